"""The notebook to begin with."""

from __future__ import annotations

from tools.notebooks import cells

from tlpuzzles.course import catalog

WELCOME = """\
# tlpuzzles: GPU kernels in TileLang, from vector add to FlashAttention

Each exercise is a notebook: you read a lesson, edit a cell with the skeleton of a kernel, and run it. Below the cell you
read what is right, what is wrong and why and, with a GPU, how fast your kernel is beside NVIDIA's or PyTorch's own.

This notebook sees whether everything works. Then take up the first exercise.
"""

GPU = """\
## 1. A GPU, if you can have one

On Colab: *Runtime*, *Change runtime type*, *T4 GPU*, *Save*. Without one your kernels run on the CPU, and reports say what
that cannot show: above all, speed.
"""

SET_UP = """\
## 2. Set up

Run the next four cells, one after the other (Shift+Enter). Every notebook begins with them, because Colab gives each one a
machine of its own.

1. **Google Drive**, where your work stays when the machine goes. Tick the box first, and Colab asks for your permission.
2. **Install.** PyTorch stays as Colab has it. If no `tlpuzzles-*.whl` is found, the cell says what to do.
3. **Start.** It makes your *workspace*, a folder with your kernels, the lessons and a record of your attempts, and says where
   it is: in `tlpuzzles` on your Drive if it is mounted, else in `/content/tlpuzzles`.
4. **Doctor.** Each line should begin with "ok"; a warning or a problem says what to do about it.
"""

EXERCISES = """\
## 3. The exercises

| | notebook | |
|---|---|---|
{rows}

Open each as you opened this one (*File*, *Upload notebook*). In them:

| in a cell | does |
|---|---|
| `%%exercise 1`, with your kernel below it | saves the cell as the exercise's file, and grades it |
| `%hint 1` | a hint; once more, and it tells more |
| `%progress` | every attempt, and what is next |
| `%solution 1` | the reference solution, when you have passed, if your teacher gave it to you |
| `%workspace FOLDER` | says where your workspace is, or chooses another |
| `%tlpuzzles ...` | any other command, such as `%tlpuzzles inspect 2` or `%tlpuzzles cheatsheet` |

`%%exercise` reads the cell and does not run it here. To try a kernel by hand, which needs a GPU: `%run` and the path of its
file, and then call its factory.

A magic such as `%%exercise` is not found? Run the cells under "Set up" again: a runtime that was restarted has forgotten
them.
"""


def make() -> str:
    """The notebook's file."""
    rows = "\n".join(
        f"| {exercise.number} | `{exercise.folder}.ipynb` | {exercise.summary} |" for exercise in catalog.exercises()
    )
    return cells.notebook(
        [
            cells.text("welcome", WELCOME),
            cells.text("gpu", GPU),
            cells.text("set-up", SET_UP),
            *cells.set_up(),
            cells.text("exercises", EXERCISES.format(rows=rows)),
            cells.code("progress", "%progress"),
        ]
    )
