"""Flags that build, run and validate share: where their results go, and what a run is."""

from dataclasses import dataclass, field
from pathlib import Path

from codegen.cli.report_flags import ReportFiles
from codegen.settings import ReferenceChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputFlags:
    """Destinations of a verb's results, and whether it prints them."""

    folder: Path | None
    """`-o`: None keeps no build, but that of the verb build."""
    report_files: ReportFiles = field(default_factory=lambda: ReportFiles(flags=()))
    as_json: bool
    quiet: bool

    @property
    def is_silent(self) -> bool:
        """True if no progress is shown."""
        return self.quiet or self.as_json


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetFlags:
    """Flags of run and validate: the target, the reference, the sizes, and where results go."""

    port: str | None
    choice: ReferenceChoice
    at: str | None
    """`--at`: `all`, `breakpoints`, or `T=37`."""
    output: OutputFlags
