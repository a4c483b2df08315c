"""Files and folders that a user names: read by a stage, built into, written beside a build.

What a verb writes never lies over what it reads, and is whole or not there at all.
"""

import difflib
import errno
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from codegen import disk, resources
from codegen.disk import temporary_folder
from codegen.errors import CodegenError, Message, Messages

PAGE, DATA = "report.html", "report.json"
"""Names of the page and of the document in a folder of a build."""
_MOST_NAMES = 1000
"""Names of a folder that are searched for one that a user may have meant."""


def example_model() -> Path:
    """Path of the shipped example's model file."""
    return resources.folder("examples") / "digits" / "digits.tflite"


def existing(path: Path, kinds: str = "a .tflite or .onnx file") -> Path:
    """`path` if it is a readable file; `kinds`: what is wanted there. Raises CodegenError E204."""
    if path.is_dir():
        raise CodegenError(_folder(path, kinds))
    if path.is_symlink() and not path.exists():
        text = f"{path} is a link to {path.readlink()}, which leads to no file"
        raise CodegenError(Message(code="E204", text=text, help=f"give the path of {kinds}"))
    if path.exists() and not path.is_file():
        help_ = f"write what it gives to a file first, and give the path of {kinds}"
        raise CodegenError(Message(code="E204", text=f"{path} is a device or a pipe", help=help_))
    if not path.is_file():
        help_ = f"{_nearest(path)}give the path of {kinds}"
        raise CodegenError(Message(code="E204", text=f"no file {path}", help=help_))
    return path


def _folder(path: Path, kinds: str) -> Message:
    """E204: a folder where a file is wanted; which files are in it that could be meant."""
    from codegen.importers.foreign_formats import saved_model_folder

    names = sorted(_names_in(path))
    message = saved_model_folder(names, path)
    if message is not None:
        return message
    models = [str(path / name) for name in names if name.endswith((".tflite", ".onnx"))]
    guess = f"did you mean {' or '.join(models[:3])}? " if models else ""
    return Message(code="E204", text=f"{path} is a folder", help=f"{guess}give the path of {kinds}")


def _names_in(folder: Path) -> list[str]:
    """Names in a folder, so many as are looked through; none of one that cannot be read."""
    try:
        return [path.name for path in islice(folder.iterdir(), _MOST_NAMES)]
    except OSError:
        return []


def _nearest(path: Path) -> str:
    """Advice about a file beside it whose name is nearly the same; nothing without one."""
    near = difflib.get_close_matches(path.name, _names_in(path.parent), n=1, cutoff=0.75)
    return f"did you mean {path.parent / near[0]}? " if near else ""


@contextmanager
def build_folder(folder: Path | None) -> Generator[Path, None, None]:
    """`folder`, or a new folder below the system's temporary one that is removed at the end."""
    if folder is not None:
        yield folder
        return
    with temporary_folder("build") as parent:
        yield parent / "build"


DUMPED = "[0-9][0-9]*_*.ir"
"""Pattern of the files that `--dump-ir` writes into its folder."""

Named = tuple[str, Path]
"""A file's role in messages (a flag, `the model`), and its path."""


def check_outputs(written: Sequence[Named], read: Iterable[Named]) -> None:
    """Raise CodegenError E218 naming each file to be written that is one to be read, or one that is written
    already; by what paths lead to, through symbolic and hard links."""
    messages = Messages()
    taken = list(read)
    for flag, path in written:
        for what, other in taken:
            if _is_same(path, other):
                messages.add("E218", f"is {what}, which would be lost", where=f"{flag} {path}", help=_HELP)
                break
        taken.append((f"the file of {flag}", path))
    messages.raise_if_any()


_HELP = "name another file"


def dumped(folder: Path | None) -> list[Named]:
    """The files in the folder of `--dump-ir` that it may write over."""
    return [] if folder is None else [("--dump-ir", path) for path in sorted(folder.glob(DUMPED))]


def write_file(target: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all; what a symbolic link names is written, not the
    link. Raises CodegenError E206 if it cannot be written."""
    try:
        place = target.resolve()
        if place.exists() and not place.is_file():
            place.write_bytes(data)  # a device or a pipe is written to, not replaced
        else:
            _replace(place, data)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round in a circle
        text = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        help_ = "name a file in a folder that is there and that you may write to"
        raise CodegenError(Message(code="E206", where=str(target), text=text, help=help_)) from error


def _replace(place: Path, data: bytes) -> None:
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~disk.umask()
    disk.write_whole(place, data, mode=mode)


def changed_meanwhile(folder: Path, changed: list[Message]) -> Callable[[str, str], None]:
    """Hears of files of ours that the user changed while they were replaced; tells of them in `changed`."""

    def tell(name: str, aside: str) -> None:
        text = f"{name} was changed while a build replaced it: the changed file is there as {aside}"
        help_ = "compare the two, then remove it"
        changed.append(Message(code="E236", where=str(folder), text=text, help=help_))

    return tell


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))
    except (OSError, RuntimeError):
        return False  # what cannot be looked at is told by who reads or writes it
