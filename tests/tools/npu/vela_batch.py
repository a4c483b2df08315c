"""Many layers through Vela in one process of the engines' Python: a start of Vela takes longer than a layer.

As a script, run by that Python: `vela_batch.py DEVICE FOLDER`, paths of models on stdin, one a line.
"""

import contextlib
import importlib
import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PYTHON = Path(__file__).parents[3] / ".venv-engines" / "bin" / "python"


def compile_all(paths: Sequence[Path], device: str, folder: Path) -> None:
    """Let Vela compile `paths` to `folder`; what it fails at, or dies of, is not there afterwards."""
    waiting = list(paths)
    while waiting:
        words = [PYTHON, __file__, device, folder]
        text = "".join(f"{path}\n" for path in waiting)
        ended = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
        begun = ended.stdout.splitlines()
        waiting = waiting[len(begun) :] if ended.returncode and begun else []


def _compile(path: str, device: str, folder: str) -> None:
    vela = importlib.import_module("ethosu.vela.vela")
    with contextlib.suppress(Exception, SystemExit), contextlib.redirect_stdout(io.StringIO()):
        vela.main(["--accelerator-config", device, "--output-dir", folder, path])


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(line)  # told before it begins: Vela may die of it
        sys.stdout.flush()
        _compile(line.strip(), sys.argv[1], sys.argv[2])
