"""Click's options with groups in the help, made from the rows of the option table."""

from collections.abc import Callable
from typing import Any

import click

from codegen.cli.options.option_table import GROUPS, Row


class _Option(click.Option):
    """An option that its help shows below a heading."""

    def __init__(self, *names: Any, group: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.group = group


def option(row: Row) -> Callable[..., Any]:
    """Decorator: adds the option of `row`."""
    return click.option(row.flag, cls=_Option, group=row.group, envvar=row.variable, **row.settings)


class GroupedVerb(click.Command):
    """A verb whose help has its own options first, then those that it shares, by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups that have options."""
        records: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            record = None if isinstance(each, click.Argument) else each.get_help_record(ctx)
            if record is not None:
                group = each.group if isinstance(each, _Option) else "Options"
                records.setdefault(group, []).append(record)
        for group in ("Options", *GROUPS):
            if group in records:
                with formatter.section(group):
                    formatter.write_dl(records[group])
