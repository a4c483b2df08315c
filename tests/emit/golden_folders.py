"""Golden folders: whole files, and files that are held as what they change of their base's.

`python -m tests.emit.golden_folders FOLDER` writes every one of them whole, for reading and comparing.
"""

import difflib
import re
import shutil
import sys
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
BASES = {
    "counter_pool": "counter_caller",
    "counter_external": "counter_caller",
    "counter_steps": "counter_pool",
    "counter_core1": "counter_pool",
    "counter_owned": "counter_external",
    "counter_owned_steps": "counter_owned",
    "counter_core1_owned": "counter_owned",
    "lasting_owned_steps": "lasting",
    "mixed_steps": "mixed_caller",
    "mixed_pool": "mixed_caller",
    "mixed_owned": "mixed_caller",
    "sized_owned_steps": "sized",
}
"""A folder that has all files of its base holds only those that differ; `copied.txt` names what is copied."""

_SUFFIX = ".diff"
_SHARE = 0.6
"""A file of a base's name is held as a difference that is shorter than this share of it."""
_HUNK = re.compile(r"@@ -(\d+)(,\d+)? \+\d+(?:,\d+)? @@")


def golden(name: str | None) -> dict[str, str]:
    """The whole files of a folder: its own over those of its base."""
    if name is None:
        return {}
    base = golden(BASES.get(name))
    files = dict(base)
    for path, text in held(name).items():
        whole = path.removesuffix(_SUFFIX)
        files[whole] = text if whole == path else applied(text, base[whole])
    return files


def held(name: str) -> dict[str, str]:
    """The files of a folder as they are kept."""
    folder = GOLDEN / name
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def holding(name: str, files: dict[str, str]) -> dict[str, str]:
    """How a folder of these whole files is kept: without those of its base, and in short."""
    base = golden(BASES.get(name))
    kept: dict[str, str] = {}
    for path, text in files.items():
        short = difference(base.get(path, ""), text, f"{BASES.get(name)}/{path}", f"{name}/{path}")
        if path in base and short.count("\n") < _SHARE * text.count("\n"):
            kept |= {path + _SUFFIX: short} if short else {}
        else:
            kept[path] = text
    return kept


def update(name: str, files: dict[str, str]) -> None:
    """Keep these whole files as the golden ones."""
    shutil.rmtree(GOLDEN / name, ignore_errors=True)
    write(GOLDEN / name, holding(name, files))


def difference(old: str, new: str, old_name: str, new_name: str) -> str:
    """A unified difference with a line around each change; empty where nothing differs."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), old_name, new_name, n=1, lineterm="")
    return "".join(f"{line if line != ' ' else ''}\n" for line in lines)


def applied(changes: str, base: str) -> str:
    """`base` with the changes of a difference. ValueError: they are of another text."""
    before, after, lines = base.splitlines(), list[str](), changes.splitlines()
    at = 0
    for line in lines[2:]:
        if hunk := _HUNK.fullmatch(line):
            start = int(hunk[1]) - (hunk[2] != ",0")
            after += before[at:start]
            at = start
        elif line[:1] == "+":
            after.append(line[1:])
        elif line[:1] in ("", " ", "-") and before[at : at + 1] == [line[1:]]:
            after += [line[1:]] * (line[:1] != "-")
            at += 1
        else:
            raise ValueError(f"{lines[1]}: line {at + 1} of the base is not that of {line!r}")
    return "".join(f"{line}\n" for line in after + before[at:])


def write(folder: Path, files: dict[str, str]) -> None:
    """These files under a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    for each in sorted(GOLDEN.iterdir()):
        write(Path(sys.argv[1]) / each.name, golden(each.name))
