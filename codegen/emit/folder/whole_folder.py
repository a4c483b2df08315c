"""Writing a folder whole or not at all; files of the user's in it are kept."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from codegen import disk
from codegen.emit.folder.manifest import MANIFEST, edited, others, read_manifest
from codegen.emit.folder.old_folder import Tell
from codegen.emit.folder.publishing import (
    Published,
    Workplace,
    close_workplace,
    lock_path,
    open_workplace,
    publish,
    recover,
)
from codegen.errors import CodegenError, Message, listed

_LISTED = 8
"""Files that a message names at most."""

_WAIT_SECONDS = 60.0
"""How long other builds may look at a folder; they hold its lock for a moment, not while they compile."""


class Files(Protocol):
    """Contents of a folder to be, by path below it, with `/`: texts, and files that are none."""

    @property
    def files(self) -> Mapping[str, str]:
        """Texts by path below the folder."""
        ...

    @property
    def binaries(self) -> Mapping[str, bytes]:
        """Bytes of the other files by path below the folder."""
        ...


def _unheard(name: str, aside: str) -> None:
    del name, aside


def write(sources: Files, folder: Path) -> None:
    """Write `sources` as the new content of `folder`; see `staged`."""
    with staged(sources, folder):
        pass


@contextmanager
def staged(sources: Files, folder: Path, tell: Tell = _unheard) -> Generator[Path]:
    """A hidden folder that holds `sources`; it becomes `folder` when the block ends well.

    More files may be added to it inside the block. If the block raises, nothing is left behind and what
    was at `folder` before is untouched. Of an earlier folder of ours the files that codegen wrote are
    replaced; all others are kept, as they are, those too that are saved meanwhile: `tell` hears of files of
    ours that were. What killed builds left is cleared up first. Raises CodegenError E230 for any other folder
    or file there (an empty folder is taken), E231 if it cannot be written, E232 if files that codegen wrote
    were changed since, or others are in the way of new ones, E233 for the current folder, E235 if another
    build keeps it locked.
    """
    folder = folder.resolve()
    _check_elsewhere(folder)
    place = _opened(folder, tell)
    try:
        try:
            _fill(place.staging, sources)
        except OSError as error:
            raise _unwritable(folder, error) from error
        try:
            yield place.staging
        except OSError as error:
            # A write into an open file names no path: what is added here goes to the staging folder.
            is_here = error.filename is None or str(error.filename).startswith(str(place.path))
            if disk.is_full(error) and is_here:
                raise _unwritable(folder, error) from error
            raise
        with _alone(folder):
            kept = _check_replaceable(folder)
            _check_not_blocked(kept, place)
            publish(place, kept, tell)
    finally:
        close_workplace(place)


def _opened(folder: Path, tell: Tell) -> Workplace:
    """A workplace for `folder`, which may be replaced; what killed builds of it left is cleared up."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    with _alone(folder):
        recover(folder, tell)
        _check_replaceable(folder)
        return open_workplace(folder)


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """No other build looks at `folder` meanwhile. Raises CodegenError E231 for every OSError, E235."""
    try:
        with disk.locked(lock_path(folder), _WAIT_SECONDS):
            yield
    except TimeoutError:
        text = f"another build has been writing this folder for {_WAIT_SECONDS:.0f} seconds"
        help_ = "end that build (it may be stopped), or name another folder with -o"
        raise CodegenError(Message(code="E235", where=str(folder), text=text, help=help_)) from None
    except OSError as error:
        raise _unwritable(folder, error) from error


def _check_elsewhere(folder: Path) -> None:
    """Raise E233 for the current folder and those above it: who stands in one would be left in a folder that
    is gone once another one has taken its place."""
    here = Path.cwd()
    if folder == here or folder in here.parents:
        what = "is the current folder" if folder == here else "holds the current folder"
        raise CodegenError(
            Message(
                code="E233",
                where=str(folder),
                text=f"{what}, and a build puts a new folder in its place, with the files of yours that the "
                "old one holds",
                help="name a folder in it (-o build), or run codegen from outside it",
            )
        )


def _check_replaceable(folder: Path) -> list[str]:
    """Files that a build into `folder` keeps.
    Raises E230 unless `folder` is absent, empty or ours, E232 for files of ours that are not as codegen
    wrote them.
    """
    if not folder.exists():
        return []
    try:
        if folder.is_dir() and not any(folder.iterdir()):
            return []
        manifest = read_manifest(folder) if folder.is_dir() else None
        changed = [] if manifest is None else edited(folder, manifest)
        kept = [] if manifest is None else others(folder, manifest)
    except OSError as error:
        raise _unwritable(folder, error) from error
    if manifest is None:
        raise _not_ours(folder)
    if changed:
        text = f"was changed since codegen wrote it: {listed(changed, _LISTED)}"
        raise _in_the_way(folder, text, "move your version away, or name another folder with -o")
    return kept


def _not_ours(folder: Path) -> CodegenError:
    if folder.is_dir():
        text = f"holds files, but no {MANIFEST} that lists what codegen wrote there, so it is left alone"
        help_ = "name a new folder with -o; if an older codegen, which wrote no such list, built this one, "
        help_ += "delete it first"
    else:
        text, help_ = "is a file, so it is left alone", "name a new folder with -o"
    return CodegenError(Message(code="E230", where=str(folder), text=text, help=help_))


def _in_the_way(folder: Path, text: str, help_: str) -> CodegenError:
    return CodegenError(Message(code="E232", where=str(folder), text=text, help=help_))


def _unwritable(folder: Path, error: OSError) -> CodegenError:
    if isinstance(error, Published):
        text = f"is the new build, but what was there before cannot be cleared up: {error.strerror}"
        help_ = (
            "make room or correct the rights beside it and build again: files of yours are kept until then"
        )
        return CodegenError(Message(code="E231", where=str(folder), text=text, help=help_))
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        blocking = next(
            (parent for parent in folder.parents if parent.exists() and not parent.is_dir()), None
        )
        if blocking is not None:
            text = f"cannot be written: {blocking} is a file, no folder"
            help_ = "name a folder with -o that lies in no file, or move that file away"
            return CodegenError(Message(code="E231", where=str(folder), text=text, help=help_))
    reason = error.strerror or str(error)
    return CodegenError(
        Message(
            code="E231",
            where=str(folder),
            text=f"cannot be written: {reason}",
            help="name a folder with -o that you may write to, on a disk with room",
        )
    )


def _fill(staging: Path, sources: Files) -> None:
    for name, text in sources.files.items():
        path = staging / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    for name, data in sources.binaries.items():
        (staging / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).write_bytes(data)


def _check_not_blocked(kept: list[str], place: Workplace) -> None:
    """Raise E232 for files of the user's in the way of new ones."""
    blocked = [name for name in kept if _blocks(name, place.staging, place.folder)]
    if blocked:
        text = (
            f"holds files that codegen did not write where this build has files of its own: "
            f"{listed(blocked, _LISTED)}"
        )
        raise _in_the_way(place.folder, text, "move them away, or name another folder with -o")


def _blocks(name: str, staging: Path, folder: Path) -> bool:
    """True if the new folder has a file where the kept one has something, or the other way round."""
    both = [staging / part for part in (name, *map(str, Path(name).parents[:-1]))]
    here = folder / name
    is_folder = here.is_dir() and not here.is_symlink()
    return any(path.is_file() for path in both) or (both[0].is_dir() and not is_folder)
