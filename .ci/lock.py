"""Writes develop.lock: every version and hash that development, tests and the documentation install.

    python .ci/lock.py FOLDER    (`make lock`; FOLDER is a virtual environment with pip-tools)

pip-compile resolves pyproject.toml with the extras of development, and lists the hashes of all files of a
version. Above each package this script writes the groups that need it; the Makefile installs a group.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "develop.lock"
EXTRAS = {"demo": (), "test": ("test",), "lint": ("test", "lint"), "docs": ("docs",)}
"""Group -> extras of pyproject.toml; each group has the dependencies too."""
BUILD = ("hatchling", "editables", "setuptools")
"""What builds this project, and those packages that are source only: installed before all others."""
_MICRO = "tflite-micro==0.dev20261023182759"
_VELA = "ethos-u-vela==5.2.0"
ENGINES = {
    "engines": (_MICRO, _VELA, "tflite-runtime==2.14.0", "numpy==1.26.4"),
    "engines-newer": (_MICRO, _VELA),
}
"""The tests' reference engines, and Arm's compiler for the Ethos-U, in an environment of their own.

tflite-runtime 2.14 has wheels up to Python 3.11 and needs NumPy 1: newer Pythons have the other group."""
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


def main(folder: Path) -> None:
    """Write the lock anew; `folder` is a virtual environment with pip-tools."""
    kept = {name: version for name, version in versions(LOCK.read_text()).items() if name in KEPT}
    extras = sorted({extra for group in EXTRAS.values() for extra in group})
    answer = compiled(folder, BUILD, kept, "pyproject.toml", *(f"--extra={extra}" for extra in extras))
    engines: dict[str, str] = {}
    for group, requirements in ENGINES.items():
        fixed = {requirement.split("==")[0] for requirement in requirements}
        same = {name: version for name, version in versions(answer).items() if name not in fixed}
        engines[group] = compiled(folder, requirements, same)
    LOCK.write_text(lock(answer, engines))


def compiled(folder: Path, requirements: Iterable[str], kept: Mapping[str, str], *words: str) -> str:
    """pip-compile's answer, with comments that say what needs what. `kept` are versions to take."""
    asked, limits, answer = folder / "asked.in", folder / "kept.txt", folder / "answer.txt"
    asked.write_text("".join(f"{requirement}\n" for requirement in requirements))
    limits.write_text("".join(f"{name}=={version}\n" for name, version in kept.items()))
    answer.unlink(missing_ok=True)
    command = [folder / "bin" / "pip-compile", *_OPTIONS, *words, "-c", limits, "-o", answer, asked]
    subprocess.run(command, cwd=ROOT, check=True)
    return answer.read_text()


def versions(text: str) -> dict[str, str]:
    """Name -> version of each package in a lock."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def lock(answer: str, engines: Mapping[str, str]) -> str:
    """Text of develop.lock. `engines`: group -> pip-compile's answer."""
    packages = entries(answer)
    members = groups(packages)
    users: dict[str, set[str]] = {}
    for name, package in packages.items():
        users[package.requirement] = {group for group in members if name in members[group]}
    for group, text in engines.items():
        for package in entries(text).values():
            users.setdefault(package.requirement, set()).add(group)
    return HEAD + "".join(f"# {' '.join(sorted(users[entry]))}\n{entry}" for entry in sorted(users))


def entries(answer: str) -> dict[str, Locked]:
    """Packages of an answer of pip-compile, by name."""
    return {
        normal(name): Locked(
            f"{name}=={version} \\\n{hashes}",
            frozenset(normal(needing.split()[0]) for needing in via.split(",")),
        )
        for name, version, hashes, via in _ENTRY.findall(answer)
    }


def groups(packages: Mapping[str, Locked]) -> dict[str, set[str]]:
    """Names by group: what pyproject.toml lists, and all that it needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    members = {"build": _with_needs({*BUILD}, packages), "last": {*LAST}}
    for group, extras in EXTRAS.items():
        listed: list[str] = [*project["dependencies"]]
        for extra in extras:
            listed += project["optional-dependencies"][extra]
        members[group] = _with_needs({normal(re.split(r"[^\w.-]", line)[0]) for line in listed}, packages)
    return members


def _with_needs(names: set[str], packages: Mapping[str, Locked]) -> set[str]:
    more = {name for name, package in packages.items() if package.needed_by & names}
    return names if more <= names else _with_needs(names | more, packages)


def normal(name: str) -> str:
    """The name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
