"""What a command needs that grades."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tlpuzzles.border.children import Warm
from tlpuzzles.commands.scratch import scratch_folder


@contextmanager
def warm_process() -> Iterator[tuple[Warm, Path]]:
    """The warm process, and a folder for all that is temporary. They go when the command ends, also by SIGTERM,
    and by SIGHUP: the terminal was closed. By a signal that cannot be caught, the folder goes with a later command.

    Import what takes long inside: the process is started first, and takes seconds to be ready.
    """
    for signalled in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signalled) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(signalled, _stop)
    with scratch_folder() as scratch:
        # The C++ compiler's temporary files, too, then go with the rest.
        os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
        with Warm(scratch) as warm:
            yield warm, scratch


def _stop(signalled: int, _: object) -> NoReturn:
    # Once is enough: a second one must not end the cleaning up that the first one began.
    for other in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + signalled)
