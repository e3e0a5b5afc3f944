# @title Install tlpuzzles
# Teachers: where your class gets tlpuzzles from. The address of a wheel or of a git repository, or a folder; as in
# "https://example.org/tlpuzzles-0.1.0-py3-none-any.whl" or "git+https://example.org/tlpuzzles.git". If it is left
# empty, the wheel is looked for beside this notebook, in /content and on your Google Drive.
SOURCE = ""  # @param {type:"string"}

import subprocess
import sys
import tempfile
from importlib import invalidate_caches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PLACES = [".", "wheels", "dist", "../dist", "/content", "/content/drive/MyDrive", "/content/drive/MyDrive/tlpuzzles"]
KEPT = ["torch", "torchvision", "torchaudio", "triton", "numpy"]  # this machine's own: they fit its GPU's driver
NO_WHEEL = """There is no tlpuzzles-*.whl here, and tlpuzzles is on no package index. Do one of these, and run this cell again:
- Upload the wheel that your teacher gave you: the folder on the left, then the arrow that points up.
- Put it into a folder "tlpuzzles" on your Google Drive, and tick the box in the cell above.
- Fill in SOURCE above, if your teacher gave you an address."""


class Stop(Exception):
    """Ends this cell, and those after it, with a sentence."""

    def _render_traceback_(self):
        return [str(self)]


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def wheels(places):
    """The newest wheel of tlpuzzles, and that of its solutions if your teacher gave you one."""
    found = {}
    for place in places:
        for file in sorted(Path(place).glob("tlpuzzles*-*.whl"), key=lambda file: file.stat().st_mtime):
            found.setdefault(place, {})[file.name.partition("-")[0]] = str(file)
    return next((list(files.values()) for files in found.values() if "tlpuzzles" in files), [])


def install(wanted):
    """Installs with pip, which may add packages and must not replace those of KEPT."""
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "constraints.txt")
        constraints.write_text("".join(f"{name}=={installed(name)}\n" for name in KEPT if installed(name)))
        pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        command = [*pip, "-c", str(constraints), *wanted]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        why = "\n".join(done.stdout.strip().splitlines()[-20:])
        raise Stop(f"pip could not install {' '.join(wanted)}. The last that it said:\n{why}")
    invalidate_caches()


wanted = (wheels([SOURCE]) if Path(SOURCE).is_dir() else SOURCE.split()) if SOURCE else wheels(PLACES)
if wanted:
    print(f"Installing {', '.join(wanted)}. That takes a minute or two ...")
    install(wanted)
elif not installed("tlpuzzles"):
    raise Stop(NO_WHEEL)
print(f"tlpuzzles {installed('tlpuzzles')} is installed, beside PyTorch {installed('torch')}.")
