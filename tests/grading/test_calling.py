"""A learner's functions are called in a process of their own; what comes back is plain data, or a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.course.functions import Call, Measure, Of, RecordedKernel
from tlpuzzles.grading import calling, submission
from tlpuzzles.grading.calling import Called

SCHEDULES = ({"block_M": 64}, {"block_M": 128}, {"block_M": 256})
MEASURE = Measure(((SCHEDULES[0], 2.0), (SCHEDULES[1], None), (SCHEDULES[2], float("nan"))))

Make = Callable[..., Called]


@pytest.fixture
def make(warm: Warm, learner: Path) -> Make:
    """Calls what a file defines: make(text, name=Call(...), ...)."""

    def make(text: str, seconds: float = 15.0, **calls: Call) -> Called:
        file = learner / "functions.py"
        file.write_text(text, encoding="utf-8")
        return calling.call(warm, submission.read(file), "cpu", calls, Limits(seconds), learner)

    return make


def test_values_come_as_plain_data(make: Make) -> None:
    called = make(
        "import numpy as np, torch\n"
        "def values(n):\n"
        "    return (n, [1.5, None, True], {'a': np.int64(7), 'b': torch.tensor(2.5)}, float('nan'), 'x')\n",
        a=Call("values", {"n": 3}),
        b=Call("values", {"n": 4}, positional=True),
    )

    assert called.problems == {}
    value = called.answers["a"].value
    assert value[:3] == [3, [1.5, None, True], {"a": 7, "b": 2.5}]
    assert value[3] != value[3]
    assert called.answers["b"].value[0] == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("def g(): ...", "no function named f", id="missing"),
        pytest.param("f = 3", "f is an object of type int", id="no function"),
        pytest.param("def f(a): return a", "f cannot be called with the parameters n", id="other parameters"),
        pytest.param("class Odd(Exception): ...\ndef f(n): raise Odd('!')", "Calling f raised Odd: !", id="raises"),
        pytest.param("def f(n): return object()", "object of type object", id="an object"),
        pytest.param("def f(n): return {1: 2}", "keys must be str", id="keys"),
        pytest.param("def f(n):\n    x = []\n    x.append(x)\n    return x", "too deeply nested", id="endless"),
        pytest.param("import os\ndef f(n): os._exit(0)", "ended its process", id="exits"),
        pytest.param("import os\ndef f(n): os.kill(os.getpid(), 9)", "signal 9", id="killed"),
        pytest.param("import sys\ndef f(n): sys.exit('bye')", "sys.exit(bye)", id="sys.exit"),
        pytest.param("def f(n): return 'x' * (80 << 20)", "more data than is read", id="floods"),
    ],
)
def test_what_cannot_be_used_is_told(make: Make, text: str, says: str) -> None:
    called = make(text, a=Call("f", {"n": 3}))

    assert says in called.problems["a"].message
    assert called.answers == {}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("return n <= limit", "limit is a function: call it, limit()."),
        ("return limit > n", "limit is a function: call it, limit()."),
        ("return len([n]) <= limit", "limit is a function: call it, limit()."),
        ("return n <= [3]", "Calling f raised TypeError: '<=' not supported between instances of 'int' and 'list'"),
    ],
)
def test_a_function_that_is_compared_without_being_called_is_named(make: Make, line: str, says: str) -> None:
    called = make(f"def limit():\n    return 7\ndef f(n):\n    {line}\n", a=Call("f", {"n": 3}))

    assert called.problems["a"].message == says
    assert called.problems["a"].line == 4


def test_the_line_of_an_error_is_known(make: Make) -> None:
    called = make("def f(n):\n    return deeper(n)\n\ndef deeper(n):\n    return n.nothing\n", a=Call("f", {"n": 3}))

    assert called.problems["a"].line == 5


def test_a_function_that_never_ends_does_not_keep_the_others_from_answering(make: Make) -> None:
    text = "def slow(n):\n    while True: pass\ndef quick(n): return n\n"
    called = make(
        text,
        1.0,
        a=Call("quick", {"n": 1}),
        b=Call("slow", {"n": 2}),
        c=Call("slow", {"n": 3}),
        d=Call("quick", {"n": 4}),
    )

    assert {name: answer.value for name, answer in called.answers.items()} == {"a": 1, "d": 4}
    assert "loop that never ends" in called.problems["b"].message
    assert called.problems["c"] == called.problems["b"]


def test_a_file_that_cannot_be_loaded_answers_nothing(make: Make) -> None:
    called = make("import no_such_module\n", a=Call("f"))

    assert called.whole is not None
    assert "no_such_module" in called.whole.message


def test_measuring_plays_the_table_and_is_noted(make: Make) -> None:
    called = make(
        "def sweep(schedules, measure):\n"
        "    found = []\n"
        "    for s in schedules:\n"
        "        try: found.append(measure(s))\n"
        "        except Exception: found.append('raised')\n"
        "    return found\n"
        "def guess(schedules, measure): return measure({'block_M': 32})\n",
        a=Call("sweep", {"schedules": list(SCHEDULES), "measure": MEASURE}),
        b=Call("guess", {"schedules": list(SCHEDULES), "measure": MEASURE}),
    )

    assert called.answers["a"].value[:2] == [2.0, "raised"]
    assert called.answers["a"].value[2] != called.answers["a"].value[2]
    assert called.answers["a"].uses == SCHEDULES
    assert "not in the list" in called.problems["b"].message


def test_a_recorded_kernel_gives_its_sources_and_its_time(make: Make) -> None:
    kernel = RecordedKernel("__global__ void main_kernel() {}", "int32_t main() {}", 0.125)
    called = make(
        "def f(kernel):\n"
        "    return [kernel.get_kernel_source(), kernel.get_host_source(), kernel.get_profiler().do_bench(warmup=1)]\n",
        a=Call("f", {"kernel": kernel}),
    )

    assert called.answers["a"].value == [kernel.device_source, kernel.host_source, 0.125]
    assert called.answers["a"].uses == ("get_kernel_source", "get_host_source", "get_profiler", "do_bench")


@pytest.mark.parametrize(
    ("use", "says"),
    [
        ("kernel(1)", "recorded kernel, which cannot be launched here: for its time, ask kernel.get_profiler()"),
        ("kernel.config", "has no config here. It has get_kernel_source(), get_host_source() and get_profiler()"),
        ("kernel.show_source()", "has no show_source here"),
        ("kernel.prim_func", "has no prim_func here"),
        ("kernel.get_profiler().run_once()", "has no run_once here. It has do_bench()"),
    ],
)
def test_what_a_recorded_kernel_cannot_do_is_told(make: Make, use: str, says: str) -> None:
    called = make(f"def f(kernel):\n    return {use}\n", a=Call("f", {"kernel": RecordedKernel("", "", 1.0)}))

    assert says in called.problems["a"].message
    assert called.problems["a"].line == 2


def test_a_recorded_kernel_says_no_to_what_it_has_not(make: Make) -> None:
    text = "def f(kernel): return [hasattr(kernel, 'config'), hasattr(kernel, 'get_profiler')]\n"

    assert make(text, a=Call("f", {"kernel": RecordedKernel("", "", 1.0)})).answers["a"].value == [False, True]


TUNED = """
import tilelang
import tilelang.language as T

def configs(N):
    return [{"block_N": 64}, {"block_N": 128 if N > 100 else 32}]

@tilelang.autotune(configs=configs)
@tilelang.jit(out_idx=[-1])
def tuned(N, block_N=64):
    return None

@tilelang.jit(out_idx=[-1])
def plain(N, block_N=64):
    return None
"""


def test_the_tuning_space_is_what_autotune_would_try(make: Make) -> None:
    called = make(
        TUNED, a=Call("tuned", {"N": 500}, of=Of.TUNING_SPACE), b=Call("plain", {"N": 500}, of=Of.TUNING_SPACE)
    )

    space = [{"block_N": 64}, {"block_N": 128}]
    assert called.answers["a"].value == {"autotuned": True, "decorated": True, "configs": space}
    assert called.answers["b"].value == {"autotuned": False, "decorated": True, "configs": None}


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        (TUNED, ["N", "block_N"]),
        ("def tuned(N, *, panel=3): ...", ["N", "panel"]),
        ("def tuned(N, **more): ...", None),
    ],
)
def test_parameters_of_another_function_are_told_beside_an_answer(
    make: Make, text: str, parameters: list[str] | None
) -> None:
    called = make(f"{text}\ndef listed(): return [1, 2]\n", a=Call("listed", beside="tuned"))

    assert called.answers["a"].value == {"value": [1, 2], "parameters": parameters}


def test_what_is_printed_is_kept(make: Make) -> None:
    assert make("def f():\n    print('hello')\n", a=Call("f")).output == "hello\n"


def test_a_forged_answer_to_another_question_is_ignored(make: Make) -> None:
    """Whatever a learner's process writes, only the calls that were made have answers."""
    forge: dict[str, Any] = {"kind": "answer", "id": "z", "value": 1, "uses": []}
    text = (
        "import json, os\n"
        "def f():\n"
        "    for fd in range(3, 64):\n"
        f"        try: os.write(fd, json.dumps({forge!r}).encode() + b'\\n')\n"
        "        except OSError: continue\n"
        "    return 2\n"
    )
    called = make(text, a=Call("f"))

    assert called.answers["a"].value == 2
    assert "z" not in called.answers


@pytest.mark.parametrize(
    "forged",
    [
        {"kind": "answer", "id": ["a"], "value": 1, "uses": []},
        {"kind": "answer", "id": {"a": 1}, "value": 1, "uses": [1]},
        {"kind": "calling", "id": [1]},
        {"kind": "error", "id": [1], "type": [2], "message": {}, "line": "x"},
        {"kind": ["answer"], "id": "a"},
        {"kind": "answer", "id": "a", "value": 10**400, "uses": []},
        {"kind": "answer", "id": "a", "value": "\ud800", "uses": []},
        {"kind": "error", "id": "a", "type": "Odd\ud800", "message": "\ud800", "line": 10**30, "raw": "\ud800"},
    ],
)
def test_forged_messages_are_no_fault_of_the_grader(make: Make, forged: dict[str, Any]) -> None:
    text = (
        "import json, os\n"
        "def f():\n"
        "    for fd in range(3, 64):\n"
        f"        try: os.write(fd, json.dumps({forged!r}).encode() + b'\\n')\n"
        "        except OSError: continue\n"
        "    return 2\n"
    )
    called = make(text, a=Call("f"))

    assert called.whole is None
    assert called.answers.get("a") is None or called.answers["a"].value == 2
    for problem in called.problems.values():
        (problem.message + str(problem.raw)).encode("utf-8")


def test_an_answer_that_is_too_deep_is_refused(make: Make) -> None:
    deep = "{'kind': 'answer', 'id': 'a', 'value': json.loads('[' * 500 + ']' * 500), 'uses': []}"
    text = (
        "import json, os\n"
        "def f():\n"
        "    for fd in range(3, 64):\n"
        f"        try: os.write(fd, json.dumps({deep}).encode() + b'\\n')\n"
        "        except OSError: continue\n"
        "    os._exit(0)\n"
    )

    assert "too deeply nested" in make(text, a=Call("f")).problems["a"].message
