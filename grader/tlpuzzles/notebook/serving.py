"""The process that grades for a notebook.

A learner's Python runs in the notebook's own process, which must therefore know no seed and hold nothing that judges.
This one reads what is asked on standard input, and answers on what was its standard output. It ends with the notebook:
when standard input does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from queue import Queue
from typing import IO

from tlpuzzles.border.limits import hide
from tlpuzzles.commands.working import warm_process
from tlpuzzles.notebook.messages import Answer, read_asked, write_answer


def main() -> None:
    """Grades whatever is asked, one after the other, until there is no one left to ask."""
    hide()  # it knows seeds
    # The button that stops a cell sends this to every process of the notebook; this one is ended by who started it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with warm_process() as (warm, scratch):
        from tlpuzzles.grading.choices import DeviceChoice
        from tlpuzzles.notebook.grading import Gradings

        asked = _listen()
        gradings = Gradings(warm, scratch)
        gradings.prepare(DeviceChoice.AUTO)
        sending = threading.Lock()

        def tell(answer: Answer) -> None:
            with sending:
                print(write_answer(answer), file=answers)

        while (line := asked.get()) is not None:
            tell(gradings.grade(read_asked(line), tell))


def _listen() -> Queue[str | None]:
    """What comes in, line by line. Its end stops a grading, too: nobody waits for it any more."""
    lines: Queue[str | None] = Queue()
    asking: IO[str] = sys.stdin

    def read() -> None:
        for line in asking:
            lines.put(line)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=read, daemon=True).start()
    return lines
