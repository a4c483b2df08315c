"""All verbs, those of tools too: the module and the help of each.

A verb is imported when it runs, not to list it: importing all of them imports all of codegen (NumPy, the
search, every kernel), a second of work that `codegen --help` has no use for. So nothing but click is imported
here.
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import click

from codegen.api.tool import Verb
from codegen.cli.installed_tools import installed_tools

_BEFORE_TOOLS: Mapping[str, Verb] = {
    "build": Verb(
        module="codegen.cli.verbs",
        help="""Turn every MODEL into C, firmware.elf and report.json in DIR.

MODEL left out is the shipped example. DIR defaults to out/<model>. Several models share pools and equal
constants; those that may run at the same time are named with --concurrent.""",
    ),
    "run": Verb(
        module="codegen.cli.verbs",
        help="""Build every MODEL, execute all on BOARD, compare outputs with the reference, measure peaks.

On QEMU unless --port names a real board. MODEL left out is the shipped example on its held-out
images. Exit 7: outputs differ; exit 8: a measured peak differs from the plan.""",
    ),
    "validate": Verb(
        module="codegen.cli.verbs",
        help="""Compare every step's result on the target with the reference; name the first that differs.

MODEL left out is the shipped example. With -o the build stays in DIR.""",
    ),
    "plan": Verb(
        module="codegen.cli.verbs",
        help="""Plan memory only (no toolchain needed) and print the memory map.

A .csv (id,lower,upper,size) or .json file is a bare allocation problem; MODEL left out is the shipped
example. Without --board a model is planned with the kernels of stm32 and no limit on the pool.""",
    ),
    "flash": Verb(
        module="codegen.cli.boards.flash_verbs",
        help="""Put firmware.elf of DIR on its board, by a flash tool that is installed.

DIR is a folder of `build -o`; left out it is that of the shipped example, out/digits. --dry-run prints the
commands. With --port it waits until the board is there again and checks that this build
answers.""",
    ),
    "monitor": Verb(
        module="codegen.cli.boards.monitor_verb",
        help="""Print what a board says on its port: text, and frames of the test link by their kinds.

Ctrl-C ends it, or --seconds. One program at a time has a port.""",
    ),
    "reset": Verb(
        module="codegen.cli.boards.flash_verbs",
        help="""Reset a board by its flash tool; --dry-run shows how.

With --port it waits until the board is there again, and says which build answers.""",
    ),
}
"""Verbs of the core, in the order a new user meets them."""

_AFTER_TOOLS: Mapping[str, Verb] = {
    "boards": Verb(
        module="codegen.cli.verbs_info",
        help="List the boards: core, memories, how they are run. "
        "With BOARD (a name or a .toml file): all of one. With --fit: where a model fits, fastest first.",
    ),
    "ops": Verb(
        module="codegen.cli.verbs_info",
        help="List the operators that files may have and the kernels that run them.",
    ),
    "planners": Verb(
        module="codegen.cli.verbs_info",
        help="List the memory planners, those of other packages included.",
    ),
    "explain": Verb(
        module="codegen.cli.explaining",
        help="Say what a message code means: explain E401.",
    ),
    "init": Verb(
        module="codegen.cli.init_file",
        help="""Write a codegen.toml with every key, what it does and its default, all commented out.

What is there is not overwritten.""",
    ),
    "doctor": Verb(
        module="codegen.cli.boards.doctor_verb",
        help="Say what works on this machine, and the command that installs what is missing. "
        "Exit 5 if builds cannot work. With --board also the flash tools of a real board, and with --port "
        "who answers there.",
    ),
}
"""Verbs of the core that tell or set up, in the order a new user meets them."""

VERBS: Mapping[str, Verb] = {
    **_BEFORE_TOOLS,
    **dict(sorted((name, verb) for tool in installed_tools() for name, verb in tool.verbs.items())),
    **_AFTER_TOOLS,
}


class _Commands(Mapping[str, click.Command]):
    """The commands of a group by name; one is imported where it is looked up."""

    def __init__(self, verbs: Mapping[str, Verb]) -> None:
        self._verbs = verbs

    def __getitem__(self, name: str) -> click.Command:
        return getattr(importlib.import_module(self._verbs[name].module), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._verbs)

    def __len__(self) -> int:
        return len(self._verbs)


class LazyGroup(click.Group):
    """Lists `verbs` by their summaries, in the order given; imports one where it is asked for."""

    def __init__(self, *, verbs: Mapping[str, Verb], **settings: Any) -> None:
        # click only reads the mapping; what would add to it (`add_command`) is not used here.
        super().__init__(commands=_Commands(verbs), **settings)  # pyright: ignore[reportArgumentType]
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Verbs in the order a new user meets them."""
        del ctx
        return list(self.verbs)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write names and summaries; no verb is imported."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.summary) for name, verb in self.verbs.items()])
