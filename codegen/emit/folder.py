"""Writing a folder whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from codegen.errors import CodegenError, Message
from codegen.plan.image import Sources

MARKER = ".codegen"
"""File that says a folder was made here, and may be replaced."""

_MARKER_TEXT = "Made by codegen: the next build into this folder replaces all of it.\n"


def write(sources: Sources, folder: Path) -> None:
    """Write `sources` as the new content of `folder`; see `staged`."""
    with staged(sources, folder):
        pass


@contextmanager
def staged(sources: Sources, folder: Path) -> Generator[Path]:
    """A hidden sibling of `folder` that holds `sources`; it becomes `folder` when the block ends well.

    More files may be added to it inside the block. If the block raises, nothing is left behind and what
    was at `folder` before is untouched. An earlier folder of ours (it holds `.codegen`) or an empty one is
    replaced. Raises CodegenError E230 for any other folder or file there, E231 if it cannot be written.
    """
    folder = folder.resolve()
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


def _check_replaceable(folder: Path) -> None:
    """Raise E230 unless `folder` is absent, empty or ours."""
    if not folder.exists():
        return
    try:
        if folder.is_dir() and ((folder / MARKER).is_file() or not any(folder.iterdir())):
            return
    except OSError as error:
        raise _unwritable(folder, error) from error
    what = "holds files that codegen did not write" if folder.is_dir() else "is a file"
    raise CodegenError(
        Message(
            code="E230",
            where=str(folder),
            text=f"{what}; a build replaces the whole folder, so this one is left alone",
            help="name a new folder with -o, or empty this one",
        )
    )


def _unwritable(folder: Path, error: OSError) -> CodegenError:
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
    (staging / MARKER).write_text(_MARKER_TEXT, encoding="utf-8", newline="\n")


def _publish(staging: Path, folder: Path) -> None:
    """Move `staging` to `folder`; what was there goes only after the new one is in its place."""
    _check_replaceable(folder)
    try:
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
