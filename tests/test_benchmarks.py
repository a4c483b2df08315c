"""Benchmarks measure the checkout that they lie in, not the installed one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

SCRIPT = """
import runpy, sys
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

class End(Exception):
    pass

class Finder:
    def find_spec(self, name, path=None, target=None):  # ends a benchmark where it imports codegen
        if name == "codegen":
            raise End

decoy, *files = sys.argv[1:]
del sys.argv[1:]  # a benchmark may take its checkout from there
plain = list(sys.path)
sys.meta_path.insert(0, Finder())
own = {"codegen", "tests", *(Path(file).stem for file in files)}
for file in files:
    for name in [name for name in sys.modules if name.split(".")[0] in own]:
        del sys.modules[name]
    sys.path[:] = [str(Path(file).parent), decoy, *plain]  # as if another checkout were installed
    with suppress(End):
        runpy.run_path(file, run_name="imported")
    print(Path(PathFinder.find_spec("codegen").origin).parent)
"""


def test_benchmarks_import_their_own_checkout(tmp_path: Path) -> None:
    """In a worktree six of them measured the installed checkout unless PYTHONPATH was set."""
    (tmp_path / "codegen").mkdir()
    (tmp_path / "codegen" / "__init__.py").write_text("raise ImportError('the installed checkout')")
    files = [str(path) for path in sorted((ROOT / "benchmarks").glob("*.py"))]
    assert len(files) > 8
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), *files],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(ROOT / "codegen")] * len(files)


@pytest.mark.long
def test_no_walk_climbs_back_more_than_twice() -> None:
    """Who followed a weight came back to rooms ten times before each stage had one (decision 042)."""
    script = str(ROOT / "benchmarks" / "walks.py")
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    walks = re.findall(r"^(.+): (\d+) modules, .* (\d+) back$", shown, re.MULTILINE)
    assert len(walks) == 6
    assert all(int(modules) >= 8 and int(back) <= 2 for _, modules, back in walks), shown
