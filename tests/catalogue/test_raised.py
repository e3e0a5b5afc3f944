"""Every entry is provoked by a kernel, through the process that runs learners' files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalogue.kernels import HEADER, IN_FILES, IN_KERNELS, Broken
from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import Message
from tlpuzzles.catalogue.raised import RAISED, explain
from tlpuzzles.grading.learners_errors import explained

BY_THE_TUNER = {"autotune-no-configs", "autotune-unused-keys", "autotune-config-type", "autotune-all-failed"}
"""See test_tuning.py."""


def _trace(warm: Warm, folder: Path, text: str, arguments: list[dict[str, object]]) -> list[Message]:
    folder.mkdir()
    file = folder / "text.py"
    file.write_text(text, encoding="utf-8")
    job = {
        "path": str(folder / "mine.py"),
        "text": str(file),
        "factory": "kernel",
        "arch": "cpu",
        "cases": [{"id": str(number), "arguments": given} for number, given in enumerate(arguments)],
    }
    return warm.run("trace", job, Limits(60), folder).of("error")


@pytest.fixture(scope="module")
def told(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> dict[Broken, tuple[Message, int | None]]:
    """What the tracer tells of every broken file, and the line that it should name."""
    folder = tmp_path_factory.mktemp("broken é")
    factories = "\n\n".join(broken.named(f"kernel_{number}") for number, broken in enumerate(IN_KERNELS))
    text = f"{HEADER}{factories}\n\ndef kernel(which):\n    return globals()[f'kernel_{{which}}'](1000)\n"
    marks = _marks(text)
    messages = _trace(warm, folder / "together", text, [{"which": number} for number in range(len(IN_KERNELS))])
    found = {
        IN_KERNELS[int(message["case"])]: (message, marks.get(f"kernel_{message['case']}")) for message in messages
    }
    for number, broken in enumerate(IN_FILES):
        start = "from __future__ import annotations\n" if broken.id == "future-annotations" else ""
        alone = start + HEADER + broken.factory
        (message,) = _trace(warm, folder / str(number), alone, [{"N": 1000}])
        found[broken] = (message, next((n for n, text in enumerate(alone.splitlines(), 1) if "# here" in text), None))
    return found


def _marks(text: str) -> dict[str, int]:
    """The marked line of each factory."""
    found, factory = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("def "):
            factory = line[4 : line.index("(")]
        if "# here" in line:
            found[factory] = number
    return found


def _cases() -> Iterator[object]:
    for broken in (*IN_KERNELS, *IN_FILES):
        yield pytest.param(broken, id=broken.id)


@pytest.mark.parametrize("broken", list(_cases()))
def test_what_a_learner_does_wrong_is_said_in_plain_words(
    told: dict[Broken, tuple[Message, int | None]], broken: Broken
) -> None:
    assert broken in told, f"{broken.factory} was traced without an error"
    message, line = told[broken]
    found = explain(message["type"], message["message"], statement=message["statement"])
    assert found is not None, f"nothing explains {message['type']}: {message['message']}"
    assert found.id == broken.id
    problem = explained(message)
    assert problem.line == line
    assert problem.raw is not None
    assert message["message"].partition("\n")[0] in problem.raw
    assert problem.message.endswith(".")
    assert "\n" not in problem.message
    assert len(problem.message) < 420


def test_no_entry_is_there_that_nothing_provokes() -> None:
    assert {broken.id for broken in (*IN_KERNELS, *IN_FILES)} | BY_THE_TUNER == {known.id for known in RAISED}


@pytest.mark.parametrize(
    ("id_", "says"),
    [
        ("no-such-function", "Did you mean T.alloc_fragment?"),
        ("no-such-function", "Did you mean T.gemm?"),
        ("unknown-keyword", "Did you mean threads?"),
        ("unknown-keyword", "Did you mean num_stages?"),
        ("unknown-keyword", "Did you mean dim?"),
        ("unknown-keyword", "Did you mean transpose_B?"),
        ("unknown-keyword", "Did you mean out_idx?"),
        ("unknown-function", "Did you mean T.Parallel"),
        ("no-such-name-in-module", "Did you mean T.ceildiv"),
        ("copy-shapes", "a source of shape (64, 64) and a target of shape (1000, 1000)"),
        ("gemm-inner-mismatch", "a depth of 32 and a right tile with a depth of 64"),
        ("gemm-rows-mismatch", "A as its left factor, with 1000 rows, and total for the sums, with 64"),
        ("gemm-rows-mismatch", "right as its left factor, with 32 rows, and total for the sums, with 64"),
        ("gemm-columns-mismatch", "B[0:32, 0:16] as its right factor, with 16 columns"),
        ("module-not-imported", "Write `import functools` at the head of the file"),
        ("endless-while", "`for i in T.Parallel(n)`"),
        ("index-count", "The number of indices of x in this line (1) is not its number of axes (2)"),
        ("threads-none", "threads=0"),
        ("python-max-of-a-tile", "Python's max() finds no elements in x"),
        ("python-max-of-a-tile", "T.reduce_max(x, result, dim=1)"),
        ("tile-in-expression", "bias is a whole tile or tensor. Give it an index for each of its axes, as in bias[j]"),
        ("tile-in-expression", "bx or B is a whole tile or tensor"),
        ("new-axis", "x[j] for a number of each column"),
        ("no-power-of-2", "tilelang.next_power_of_2(n)"),
        ("no-inf", "T.infinity('float32')"),
        ("no-pi", "write math.pi"),
        ("block-not-named", "`with T.Kernel(...) as bx:`"),
        ("index-not-named", "`for i, j in T.Parallel(rows, columns)`"),
        ("used-after-loop", "total gets its value inside a loop"),
    ],
)
def test_messages_hold_what_the_learner_wrote(
    told: dict[Broken, tuple[Message, int | None]], id_: str, says: str
) -> None:
    assert any(says in explained(message).message for broken, (message, _) in told.items() if broken.id == id_)


def test_errors_of_plain_python_keep_their_own_words() -> None:
    for kind, message, statement in (
        ("ValueError", "not enough values to unpack (expected 2, got 1)", "best, table = measure(schedule)"),
        ("AttributeError", "'str' object has no attribute 'get'", "schedule.get('threads')"),
        ("IndexError", "list index out of range", "times[0]"),
        ("KeyError", "'block_M'", "schedule['block_M']"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'str'", "1 + 'a'"),
        ("ValueError", "invalid literal for int() with base 10: 'C'", "int('C')"),
    ):
        assert explain(kind, message, statement=statement) is None
        told = {"type": kind, "message": message, "statement": statement, "line": 3, "raw": "", "stage": "call"}
        assert explained(told, "Calling sweep").message == f"Calling sweep raised {kind}: {message}"


def test_what_a_child_sends_is_not_trusted() -> None:
    hostile: Message = {
        "type": "NameError",
        "message": "name 'x' is not defined",
        "line": "1",
        "near": [1, "y" * 10_000],
        "takes": 3,
        "statement": None,
    }
    problem = explained(hostile)
    assert problem.line is None
    assert len(problem.message) < 300
