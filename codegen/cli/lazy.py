"""A group whose verbs are imported when one of them runs, not to list them.

Importing all verbs imports all of codegen (NumPy, the search, every kernel): a second of work that
`codegen --help` has no use for.
"""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, kw_only=True, slots=True)
class LazyVerb:
    """Where a verb is and what lists say about it."""

    module: str
    """The module whose attribute of the verb's name is the click command."""
    summary: str
    """The first sentence of the command's own help (a test compares them)."""


class _Commands(Mapping[str, click.Command]):
    """The commands of a group by name; one is imported where it is looked up."""

    def __init__(self, verbs: Mapping[str, LazyVerb]) -> None:
        self._verbs = verbs

    def __getitem__(self, name: str) -> click.Command:
        return getattr(importlib.import_module(self._verbs[name].module), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._verbs)

    def __len__(self) -> int:
        return len(self._verbs)


class LazyGroup(click.Group):
    """Lists `verbs` by their summaries, in the order given; imports one where it is asked for."""

    def __init__(self, *, verbs: Mapping[str, LazyVerb], **settings: Any) -> None:
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
