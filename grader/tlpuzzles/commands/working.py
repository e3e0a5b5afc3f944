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


@contextmanager
def warm_process() -> Iterator[tuple[Warm, Path]]:
    """The warm process, and a folder for all that is temporary. They go when the command ends, also by SIGTERM.

    Import what takes long inside: the process is started first, and takes seconds to be ready.
    """
    signal.signal(signal.SIGTERM, _stop)
    with tempfile.TemporaryDirectory(prefix="tlpuzzles-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        # The C++ compiler's temporary files, too, then go with the rest.
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        with Warm(scratch) as warm:
            yield warm, scratch


def _stop(*_: object) -> NoReturn:
    # Once is enough: a second one must not end the cleaning up that the first one began.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + signal.SIGTERM)
