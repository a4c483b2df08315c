"""Writing a folder whole or not at all; files of the user's in it are kept."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from codegen.emit.manifest import MANIFEST, carry_over, edited, others, read_manifest, write_manifest
from codegen.errors import CodegenError, Message, listed
from codegen.plan.image import Sources

_LISTED = 8
"""Files that a message names at most."""


def write(sources: Sources, folder: Path) -> None:
    """Write `sources` as the new content of `folder`; see `staged`."""
    with staged(sources, folder):
        pass


@contextmanager
def staged(sources: Sources, folder: Path) -> Generator[Path]:
    """A hidden sibling of `folder` that holds `sources`; it becomes `folder` when the block ends well.

    More files may be added to it inside the block. If the block raises, nothing is left behind and what
    was at `folder` before is untouched. Of an earlier folder of ours the files that codegen wrote are
    replaced; all others are kept, as they are. Raises CodegenError E230 for any other folder or file there
    (an empty folder is taken), E231 if it cannot be written, E232 if files that codegen wrote were changed
    since, or others are in the way of new ones, E233 for the current folder.
    """
    folder = folder.resolve()
    _check_elsewhere(folder)
    _check_replaceable(folder)
    staging = _staging(folder)
    try:
        try:
            _fill(staging, sources)
        except OSError as error:
            raise _unwritable(folder, error) from error
        yield staging
        _publish(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


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
    """What a build into `folder` keeps. Raises E230 unless `folder` is absent, empty or ours, E232 for files
    of ours that are not as codegen wrote them."""
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
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        blocking = next((each for each in folder.parents if each.exists() and not each.is_dir()), None)
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


def _staging(folder: Path) -> Path:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        # mkdtemp makes it private; the finished folder has the rights any new folder of the user has.
        staging.chmod(0o777 & ~_umask())
    except OSError as error:
        raise _unwritable(folder, error) from error
    return staging


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _fill(staging: Path, sources: Sources) -> None:
    for name, text in sources.files.items():
        path = staging / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    for name, data in sources.binaries.items():
        (staging / name).write_bytes(data)


def _publish(staging: Path, folder: Path) -> None:
    """Move `staging`, with what is kept of `folder`, to `folder`; what was there goes only after the new one
    is in its place."""
    kept = _check_replaceable(folder)
    try:
        write_manifest(staging)
        _carry_over(kept, staging, folder)
        if not folder.exists():
            staging.rename(folder)
            return
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as aside:
            old = Path(aside) / "old"
            folder.rename(old)
            try:
                staging.rename(folder)
            except OSError:
                old.rename(folder)
                raise
    except OSError as error:
        raise _unwritable(folder, error) from error


def _carry_over(kept: list[str], staging: Path, folder: Path) -> None:
    blocked = [name for name in kept if _blocks(name, staging, folder)]
    if blocked:
        text = (
            f"holds files that codegen did not write where this build has files of its own: "
            f"{listed(blocked, _LISTED)}"
        )
        raise _in_the_way(folder, text, "move them away, or name another folder with -o")
    carry_over(kept, folder, staging)


def _blocks(name: str, staging: Path, folder: Path) -> bool:
    """Whether the new folder has a file where the kept one has something, or the other way round."""
    both = [staging / part for part in (name, *map(str, Path(name).parents[:-1]))]
    here = folder / name
    is_folder = here.is_dir() and not here.is_symlink()
    return any(path.is_file() for path in both) or (both[0].is_dir() and not is_folder)
