"""The course in a notebook: `%load_ext tlpuzzles.notebook`, and then %%exercise N, %hint N, %progress, %solution N.

The one package of tlpuzzles that imports IPython, which is there wherever a notebook is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What %load_ext calls."""
    from tlpuzzles.notebook.magics import register

    register(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """What %unload_ext calls."""
    from tlpuzzles.notebook.magics import unregister

    unregister(shell)
