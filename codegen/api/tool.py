"""The values by which a tool declares itself: its `__init__` has one `TOOL`.

The command line imports all declarations to list the verbs, so a declaration imports nothing heavy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codegen.driver.options import Options
    from codegen.progress import Progress


@dataclass(frozen=True, kw_only=True, slots=True)
class Verb:
    """A word of the command line: the module that has its click command, and its help."""

    module: str
    """The module whose attribute of the verb's name is the click command."""
    help: str
    """Lists show its first sentence."""

    @property
    def summary(self) -> str:
        """The first sentence of the help."""
        import click

        return click.Command(None, help=self.help).get_short_help_str(limit=1000)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFlag:
    """A flag of build, run and plan by which a tool makes one more file of their report."""

    flag: str
    help: str
    file: str
    """Name of the file that the flag writes beside report.json."""
    module: str
    """Its function `finish_report` takes a `ReportWork`; it returns the report, which it may have extended,
    and a line about the file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportWork:
    """A finished report and the command that made it, for `finish_report` of a tool."""

    document: Mapping[str, object]
    models: Sequence[Path]
    options: "Options"
    folder: Path | None
    """The built folder, which has the C of the models; None for a plan."""
    target: Path
    """The file to write."""
    progress: "Progress"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDeclaration:
    """A tool around the core."""

    verbs: Mapping[str, Verb]
    docs: Sequence[str]
    """Pages about it, as paths below `docs/`."""
    report_flags: Sequence[ReportFlag] = ()
    extra: str | None = None
    """The extra of the distribution that has what the tool needs beyond the core."""
