"""Checks of the files that a verb reads and writes, before any work."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from codegen.command.project_file import Settings
from codegen.driver.inputs.files import Named, check_outputs, dumped
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages


def is_problem(path: Path) -> bool:
    """True for a bare allocation problem, False for a model, by the file's suffix."""
    return path.suffix in (".csv", ".json")


def check_problem(path: Path, options: Options) -> None:
    """Raise CodegenError E215 for limits of pools that a bare problem has not, E219 for a board, which has no
    say there; only of the command line: codegen.toml and the environment speak of models too."""
    messages = Messages()
    if _is_given("board"):
        help_ = "leave it out; --pool ram=BYTES limits a CSV's pool, a JSON problem states its pools itself"
        messages.add("E219", f"{path.name} is a bare problem, of no board", where="--board", help=help_)
    if _is_given("only"):
        help_ = "leave it out; a CSV's pool is ram, a JSON problem states its pools itself"
        messages.add("E219", f"{path.name} is a bare problem, of no board", where="--only", help=help_)
    if _is_given("pool"):
        is_csv = path.suffix == ".csv"
        names = {*options.pool_limits, *(pool.name for pool in options.pools)}
        unknown = sorted(names - {"ram"} if is_csv else names) + [
            f"{pool.name} at an address" for pool in options.pools if is_csv and pool.name == "ram"
        ]
        help_ = "its only pool is ram: --pool ram=BYTES" if is_csv else "its pools and limits are in the file"
        if unknown:
            text = f"{path.name} takes no --pool {', '.join(unknown)}"
            messages.add("E215", text, help=help_)
    messages.raise_if_any()


def _is_given(flag: str) -> bool:
    source = click.get_current_context().get_parameter_source(flag)
    return source is ParameterSource.COMMANDLINE


def keep_inputs(
    models: Iterable[Path],
    options: Options,
    *,
    written: Sequence[Named] = (),
    arrays: Iterable[Path] = (),
) -> None:
    """Raise CodegenError E218 if one of the files `written`, or that `--dump-ir` writes, is one that the verb
    reads: a model or problem, `arrays`, codegen.toml with its kernels, the application, the files of board
    and memory model."""
    project = click.get_current_context().obj or Settings()
    read: list[Named] = [("an input of this command", path) for path in (*models, *arrays)]
    read += [("read by this command (codegen.toml, or what it names)", path) for path in project.read]
    if options.app_elf is not None:
        read.append(("the application of --app-elf", options.app_elf))
    # A name of the catalogue is none of a file here, or of one that this command does not read.
    for word, what in (
        (options.board, "the board's file"),
        (options.memory_model or "", "the memory model's file"),
    ):
        if word.endswith(".toml") or "/" in word:
            read.append((what, Path(word)))
    check_outputs([*written, *dumped(options.dump_ir)], read)


def check_picture(svg: Path | None) -> None:
    """Raise CodegenError E206 for a picture whose name promises another format than SVG."""
    if svg is not None and svg.suffix.lower() not in ("", ".svg"):
        text = f"the picture is SVG, no {svg.suffix}"
        help_ = f"--svg {svg.with_suffix('.svg')}; other programs turn SVG into other formats"
        raise CodegenError(Message(code="E206", where=f"--svg {svg}", text=text, help=help_))
