"""Writes develop.lock: every version and hash that development, tests and the documentation install.

    python .ci/lock.py FOLDER    (`make lock`; FOLDER is a virtual environment with pip-tools)

pip-compile resolves pyproject.toml with the extras of development, and lists the hashes of all files of a
version. Above each package this script writes the groups that need it; the Makefile installs a group.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "develop.lock"
EXTRAS = {"demo": (), "test": ("test",), "lint": ("test", "lint"), "docs": ("docs",)}
"""Group -> extras of pyproject.toml; each group has the dependencies too."""
BUILD = ("hatchling", "editables", "setuptools")
"""What builds this project, and those packages that are source only: installed before all others."""
LAST = ("pyserial",)
"""Installed once more at the end: labgrid brings a pyserial of its own, in files of the same names."""
KEPT = ("clang-format",)
"""Stays at its version: another one would format the C otherwise."""
HEAD = """\
# Versions and hashes that development and CI use (`make test`, `make lint`, `make docs`): pip takes no other
# file. `make lock` writes them anew, the newest that pyproject.toml allows. Each version has to install on
# Python 3.11.2 (Debian 12) and on 3.13, so write it with the oldest one. Above each package stand the groups
# that install it.
"""
_ENTRY = re.compile(r"^([\w.-]+)==(\S+) \\\n((?:    --hash=\S+(?: \\)?\n)+)    # via (.*)\n", re.MULTILINE)
_OPTIONS = (
    "--quiet",
    "--generate-hashes",
    "--allow-unsafe",
    "--strip-extras",
    "--annotation-style=line",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-emit-trusted-host",
)


class Locked(NamedTuple):
    """A package of the lock: its requirement with hashes, and the packages that need it."""

    requirement: str
    needed_by: frozenset[str]


def compiled(folder: Path) -> str:
    """pip-compile's answer, with comments that say what needs what."""
    kept = [f"{name}=={version}\n" for name, version in _versions(LOCK.read_text()).items() if name in KEPT]
    (folder / "build.in").write_text("".join(f"{name}\n" for name in BUILD))
    (folder / "kept.txt").write_text("".join(kept))
    extras = sorted({extra for group in EXTRAS.values() for extra in group})
    command = [folder / "bin" / "pip-compile", *_OPTIONS, *(f"--extra={extra}" for extra in extras)]
    command += [
        "-c",
        folder / "kept.txt",
        "-o",
        folder / "compiled.txt",
        "pyproject.toml",
        folder / "build.in",
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return (folder / "compiled.txt").read_text()


def _versions(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def lock(answer: str) -> str:
    """Text of develop.lock."""
    packages = {
        normal(name): Locked(f"{name}=={version} \\\n{hashes}", _needing(via))
        for name, version, hashes, via in _ENTRY.findall(answer)
    }
    members = groups(packages)
    blocks = [
        f"# {' '.join(group for group in sorted(members) if name in members[group])}\n{package.requirement}"
        for name, package in sorted(packages.items())
    ]
    return HEAD + "".join(blocks)


def _needing(via: str) -> frozenset[str]:
    """Names behind `# via`, without what stands in brackets."""
    return frozenset(normal(name.split()[0]) for name in via.split(","))


def groups(packages: Mapping[str, Locked]) -> dict[str, set[str]]:
    """Names by group: what pyproject.toml lists, and all that it needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {"build": _with_needs({*BUILD}, packages), "last": {*LAST}}
    for group, extras in EXTRAS.items():
        listed: list[str] = [*project["dependencies"]]
        for extra in extras:
            listed += project["optional-dependencies"][extra]
        found[group] = _with_needs({normal(re.split(r"[^\w.-]", each)[0]) for each in listed}, packages)
    return found


def _with_needs(names: set[str], packages: Mapping[str, Locked]) -> set[str]:
    more = {name for name, package in packages.items() if package.needed_by & names}
    return names if more <= names else _with_needs(names | more, packages)


def normal(name: str) -> str:
    """The name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    LOCK.write_text(lock(compiled(Path(sys.argv[1]).resolve())))
