"""Entry point: runs a verb and turns what goes wrong into messages and exit codes."""

import gc
import sys
import traceback
from typing import NoReturn

import click

from codegen import __version__
from codegen.cli.process.pipes import drop_broken_output, full_output
from codegen.cli.process.signals import EndedBySignal, unwound_by_signals
from codegen.cli.verb_table import VERBS, LazyGroup
from codegen.errors import CodegenError, ExitCode, Message

COLLECTED_AFTER = 800_000
"""New objects until Python looks for circles among them. A build makes few: with Python's own 700 an eighth
of the time went into looking."""


@click.group(
    cls=LazyGroup,
    verbs=VERBS,
    invoke_without_command=True,  # a word alone asks what it is for
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="codegen")
@click.pass_context
def cli(context: click.Context) -> None:
    """Turn a trained network (.tflite, .onnx) into plain C for a bare-metal board.

    \b
    codegen run --board stm32              build the shipped example, run it on QEMU, check everything
    codegen build MODEL --board BOARD -o DIR   C, firmware.elf and report.json in DIR
    codegen doctor                         what is missing on this machine, and how to install it

    Flags can also be set in the environment (CODEGEN_BOARD=stm32) or in codegen.toml, here or above.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with a documented code; never a traceback for a user's mistake."""
    words = sys.argv[1:] if arguments is None else arguments
    gc.set_threshold(COLLECTED_AFTER)
    drop_broken_output()
    with unwound_by_signals():
        status = _run(words)
    if (full := full_output()) is not None:
        text, help_ = f"cannot be written: {full.strerror}", "make room there, or send it elsewhere"
        status = _fail(
            CodegenError(Message(code="E231", where="stdout", text=text, help=help_)), as_json=False
        )
    sys.exit(status)


def _run(words: list[str]) -> int:
    as_json = "--json" in words
    try:
        status = cli.main(args=words, prog_name="codegen", standalone_mode=False)
    except CodegenError as error:
        return _fail(error, as_json)
    except click.exceptions.Abort:
        return _stopped(as_json, ExitCode.INTERRUPTED, "interrupted")
    except EndedBySignal as signal:
        return _stopped(as_json, ExitCode(signal.status), f"ended by {signal.name}")
    except click.ClickException as error:
        return _fail(_usage(error), as_json)
    except KeyboardInterrupt:
        return _stopped(as_json, ExitCode.INTERRUPTED, "interrupted")
    except Exception as error:
        full = _no_room(error)
        return _bug() if full is None else _fail(full, as_json)
    return status if isinstance(status, int) else int(ExitCode.OK)


def _no_room(error: Exception) -> CodegenError | None:
    """E231 for a file that no stage speaks of, a temporary one; None if it is another error."""
    from tempfile import gettempdir

    from codegen.disk import NoTemporaryFolder, is_full

    if not isinstance(error, OSError) or not (is_full(error) or isinstance(error, NoTemporaryFolder)):
        return None
    text = f"cannot be written: {error.strerror}"
    help_ = "make room there; temporary files go where the environment variable TMPDIR says"
    where = str(error.filename or gettempdir())
    return CodegenError(Message(code="E231", where=where, text=text, help=help_))


def _bug() -> int:
    click.echo(traceback.format_exc(), err=True)
    click.echo("codegen: a bug in this program; please report it with the lines above", err=True)
    return int(ExitCode.BUG)


def _fail(error: CodegenError, as_json: bool) -> int:
    from codegen.command.console import json_error, show_error

    if as_json:
        click.echo(json_error(error))
    show_error(error)
    return int(error.exit_code)


def _stopped(as_json: bool, code: ExitCode, words: str) -> int:
    if as_json:
        from codegen.command.console import failure_document

        click.echo(failure_document(code, ()))
    click.echo(words, err=True)
    return int(code)


def _usage(error: click.ClickException) -> CodegenError:
    if isinstance(error, click.UsageError):
        from codegen.command.flags import usage

        return usage(error)
    return CodegenError(Message(code="E201", text=error.format_message()))
