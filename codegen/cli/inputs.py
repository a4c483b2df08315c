"""The files that a verb reads, and that none which it writes is one of them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from codegen.cli.config import Settings
from codegen.driver.options import Options
from codegen.driver.outputs import Named, check_outputs, dumped
from codegen.errors import CodegenError, Message


def existing(path: Path, kinds: str = "a .tflite file") -> Path:
    """`path` if it is a readable file; `kinds`: what is wanted there. Raises CodegenError E204."""
    if path.is_dir():
        raise CodegenError(Message(code="E204", text=f"{path} is a folder", help=f"give the path of {kinds}"))
    if not path.is_file():
        raise CodegenError(Message(code="E204", text=f"no file {path}", help=f"give the path of {kinds}"))
    return path


def keep_inputs(
    models: Iterable[Path],
    options: Options,
    *,
    written: Sequence[Named] = (),
    arrays: Iterable[Path] = (),
    memory_model: str | None = None,
) -> None:
    """Raise CodegenError E218 if one of the files `written`, or that `--dump-ir` writes, is one that the verb
    reads: a model or problem, `arrays`, codegen.toml with its kernels, the application, the files of board
    and memory model."""
    found = click.get_current_context().obj or Settings()
    read: list[Named] = [("an input of this command", path) for path in (*models, *arrays)]
    read += [("read by this command (codegen.toml, or what it names)", path) for path in found.read]
    if options.app_elf is not None:
        read.append(("the application of --app-elf", options.app_elf))
    # A name of the catalogue is none of a file here, or of one that this command does not read.
    for word, what in ((options.board, "the board's file"), (memory_model or "", "the memory model's file")):
        if word.endswith(".toml") or "/" in word:
            read.append((what, Path(word)))
    check_outputs([*written, *dumped(options.dump_ir)], read)
