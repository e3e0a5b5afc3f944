"""The notebook for teachers: marks for the speed, measured on the GPU that the class uses."""

from __future__ import annotations

from tools.notebooks import cells

ABOUT = """\
# For teachers: marks for your class's GPU

On a GPU, speed is graded by the ratio to a library's, between two marks. Those that come with tlpuzzles were measured on an
H200; for a T4, an A100 and an L4 they are estimates, which give points and never fail an exercise. This notebook measures
them on the GPU that Colab gave you: it times the reference solutions as a learner's kernel is timed, and leaves
`thresholds.toml`, which you hand out. We guess a quarter of an hour; it has not been tried on a T4 yet.

1. Choose the GPU of your class: *Runtime*, *Change runtime type*.
2. Have two wheels at hand, `tlpuzzles-*.whl` and `tlpuzzles_solutions-*.whl`. Upload both to `/content` (the folder on the
   left), put both into a folder `tlpuzzles` on your Google Drive, or fill in `SOURCE`: two addresses with a blank between,
   as in `git+https://example.org/tlpuzzles.git git+https://example.org/tlpuzzles.git#subdirectory=solutions`.
3. Run the cells, one after the other.

`docs/calibrate.md` in the sources of tlpuzzles tells more, and what the figures mean.
"""

MEASURE = """\
## Measure

Nothing else should use this GPU meanwhile. The file is written after each exercise, so that you can stop at any time and
keep what was measured. `%tlpuzzles calibrate 2 4 6` measures those exercises alone.
"""

SAVE = """\
## Look at it, and save it

Ask of each entry whether you can stand by it: a kernel passes from `pass_at` and has all points from `full_at`. You may change
both by hand. Then put the file beside `course.toml` in the workspace that your learners get, and try it on a kernel that
should pass and on one that should not.
"""

DOWNLOAD = """\
from pathlib import Path

marks = Path("class/thresholds.toml")
if not marks.exists():
    print(f"There is no {marks}: nothing was measured. The output above says why.")
else:
    print(marks.read_text())
    try:
        from google.colab import files
    except ImportError:
        print(f"It is in {marks.resolve()}")
    else:
        files.download(str(marks))
"""


def make() -> str:
    """The notebook's file."""
    drive, install, _, doctor = cells.set_up()
    return cells.notebook(
        [
            cells.text("about", ABOUT),
            drive,
            install,
            cells.code("start", "%load_ext tlpuzzles.notebook\n%workspace class"),
            doctor,
            cells.text("measure", MEASURE),
            cells.code("calibrate", "%tlpuzzles calibrate"),
            cells.text("save", SAVE),
            cells.code("download", DOWNLOAD),
        ]
    )
