"""Entry point: runs a verb and turns what goes wrong into messages and exit codes."""

import sys
import traceback
from typing import NoReturn

import click

from codegen import __version__
from codegen.cli.config import settings
from codegen.cli.console import json_error, show_error
from codegen.cli.verbs import build, plan, run, validate
from codegen.cli.verbs_boards import boards
from codegen.cli.verbs_info import doctor, ops, planners
from codegen.errors import CodegenError, ExitCode, Message


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Verbs in the order a new user meets them."""
        del ctx
        return list(self.commands)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="codegen")
def cli() -> None:
    """Turn a trained network (.tflite) into plain C for a bare-metal board.

    \b
    codegen run --board stm32              build the shipped example, run it on QEMU, check everything
    codegen build MODEL --board BOARD -o DIR   C, firmware.elf and report.json in DIR
    codegen doctor                         what is missing on this machine, and how to install it

    Every flag can also be set in the environment (CODEGEN_BOARD=stm32) or in codegen.toml.
    """


for _verb in (build, run, validate, plan, boards, ops, planners, doctor):
    cli.add_command(_verb)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with a documented code; never a traceback for a user's mistake."""
    words = sys.argv[1:] if arguments is None else arguments
    sys.exit(_run(words))


def _run(words: list[str]) -> int:
    as_json = "--json" in words
    try:
        found = settings()
        status = cli.main(
            args=words,
            prog_name="codegen",
            standalone_mode=False,
            default_map=found.defaults,
            obj=found,
        )
    except CodegenError as error:
        return _fail(error, as_json)
    except click.exceptions.Abort:
        return _interrupted()
    except click.ClickException as error:
        return _fail(_usage(error), as_json)
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # The reader of stdout went away (`codegen plan ... | head`): nothing more to say.
        sys.stderr.close()
        return int(ExitCode.OK)
    except Exception:
        click.echo(traceback.format_exc(), err=True)
        click.echo("codegen: a bug in this program; please report it with the lines above", err=True)
        return int(ExitCode.BUG)
    return status if isinstance(status, int) else int(ExitCode.OK)


def _fail(error: CodegenError, as_json: bool) -> int:
    if as_json:
        click.echo(json_error(error))
    show_error(error)
    return int(error.exit_code)


def _interrupted() -> int:
    click.echo("interrupted", err=True)
    return int(ExitCode.INTERRUPTED)


def _usage(error: click.ClickException) -> CodegenError:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "codegen"
    return CodegenError(
        Message(code="E201", text=error.format_message(), help=f"`{path} --help` explains the words")
    )
