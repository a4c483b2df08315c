"""The same bytes from another process, hash seed, folder and user."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

RENDER = """
import sys
from pathlib import Path
from codegen.emit import render, write
from codegen.joint import together
from tests.emit import samples
pooled = samples.mixed("pooled", io=samples.IoMode.POOL)
write(render(together([samples.counter(), samples.mixed(), pooled])), Path(sys.argv[1]))
"""


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()


def _render(folder: Path, seed: str, user: str, cwd: Path) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "USER": user}
    environment |= {"HOME": str(cwd), "LC_ALL": "C", "TZ": "UTC" if seed == "0" else "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", RENDER, str(folder)], env=environment, cwd=cwd, check=True)
    return _digest(folder)


def test_bytes_do_not_depend_on_hash_seed_folder_or_user(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    first = _render(tmp_path / "a", "0", "ada", tmp_path)
    second = _render(tmp_path / "elsewhere" / "b", "4242", "grace", tmp_path / "elsewhere")
    assert first == second


@pytest.mark.parametrize("word", [str(ROOT), f"{Path.home()}/"])
def test_no_path_of_this_machine_is_in_a_file(tmp_path: Path, word: str) -> None:
    _render(tmp_path / "a", "0", "ada", tmp_path)
    holding = [
        path.name for path in (tmp_path / "a").rglob("*") if path.is_file() and word in path.read_text()
    ]
    assert not holding
