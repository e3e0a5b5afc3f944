"""NVML, the driver's management library, through NVIDIA's own Python binding: opened, asked, closed.

NVML opens no CUDA context. What a GPU, a driver, a container or WSL does not tell is None: not every question has an
answer everywhere, and none of them is worth a failed grading.
"""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path
from types import TracebackType
from typing import Any

WSL_LIBRARY = Path("/usr/lib/wsl/lib/libnvidia-ml.so.1")
"""Where Windows puts it for WSL, whether or not the loader's path names that folder."""


class NoLibrary(Exception):
    """NVML is not on this machine, or cannot be loaded."""


class NoAnswer(Exception):
    """NVML is there, and does not start: the driver is not loaded, or does not fit it; or the library is damaged."""


class Nvml:
    """NVML while it is open. Raises NoLibrary or NoAnswer if it cannot be."""

    def __init__(self, binding: Any = None) -> None:
        """`binding`: the module pynvml, or what stands in for it."""
        if binding is None:
            # Imported here: it takes longer than all else that the command line needs of a GPU.
            import pynvml

            binding = pynvml
        self._binding = binding
        try:
            self._start()
        except binding.NVMLError_LibraryNotFound as error:
            raise NoLibrary from error
        except (binding.NVMLError, binding.NVMLLibraryMismatchError, OSError) as error:
            raise NoAnswer from error

    def _start(self) -> None:
        try:
            self._binding.nvmlInit()
        except self._binding.NVMLError_LibraryNotFound:
            if not WSL_LIBRARY.is_file():
                raise
            # Once it is loaded by its path, the loader finds it by the name that the binding asks for.
            with contextlib.suppress(OSError):
                ctypes.CDLL(str(WSL_LIBRARY))
            self._binding.nvmlInit()

    def ask(self, question: str, *arguments: Any) -> Any:
        """The answer of the binding's function `question`; None if there is none."""
        try:
            return getattr(self._binding, question)(*arguments)
        except (self._binding.NVMLError, self._binding.NVMLLibraryMismatchError, AttributeError):
            # AttributeError: an older binding, which does not know the question yet.
            return None

    def ask_first(self, questions: tuple[str, ...], *arguments: Any) -> Any:
        """The first answer to several names of one question: NVIDIA renames, and drivers know one name or the other."""
        return next((answer for each in questions if (answer := self.ask(each, *arguments)) is not None), None)

    def close(self) -> None:
        self.ask("nvmlShutdown")

    def __enter__(self) -> Nvml:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
