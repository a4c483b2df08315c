"""Flags of tools at build, run and plan: files made of the report, such as a page."""

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from codegen.api.tool import ReportFlag, ReportWork
from codegen.cli.installed_tools import installed_tools
from codegen.documents import to_json
from codegen.driver.inputs.files import DATA, Named, write_file
from codegen.driver.options import Options
from codegen.progress import Progress


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFiles:
    """The files of tools that a command line asks for."""

    flags: Sequence[ReportFlag]

    def __bool__(self) -> bool:
        """True if any is asked for."""
        return bool(self.flags)

    @property
    def words(self) -> str:
        """The flags as they were typed."""
        return " ".join(flag.flag for flag in self.flags)

    def written(self, folder: Path) -> list[Named]:
        """The files by their flags, in `folder`."""
        return [(flag.flag, folder / flag.file) for flag in self.flags]

    def finish(
        self,
        document: Mapping[str, object],
        target: Path,
        *,
        models: Sequence[Path],
        options: Options,
        progress: Progress,
        folder: Path | None = None,
    ) -> tuple[Mapping[str, object], list[str]]:
        """Write the files to the folder `target`. Return the report, as tools have extended it, and a line
        about each file."""
        lines: list[str] = []
        for flag in self.flags:
            finish_report = importlib.import_module(flag.module).finish_report
            document, line = finish_report(
                ReportWork(
                    document=document,
                    models=models,
                    options=options,
                    folder=folder,
                    target=target / flag.file,
                    progress=progress,
                )
            )
            lines.append(line)
        return document, lines

    def finish_build(
        self,
        text: str,
        folder: Path,
        target: Path,
        models: Sequence[Path],
        options: Options,
        progress: Progress,
    ) -> tuple[str, list[str]]:
        """Do the same for the build in `folder` whose report.json is `text`; report.json is written anew."""
        if not self.flags:
            return text, []
        document, lines = self.finish(
            json.loads(text), target, models=models, options=options, progress=progress, folder=folder
        )
        whole = to_json(document)
        write_file(folder / DATA, whole.encode())
        return whole, lines


def report_flags(verb: Callable[..., int]) -> Callable[..., int]:
    """Decorator: adds the flags of all tools; the verb gets `report_files: ReportFiles`."""
    flags = {_name(flag): flag for tool in installed_tools() for flag in tool.report_flags}

    @wraps(verb)
    def called(**values: Any) -> int:
        asked = [flag for name, flag in flags.items() if values.pop(name)]
        return verb(report_files=ReportFiles(flags=asked), **values)

    for name, flag in reversed(flags.items()):
        called = click.option(flag.flag, name, is_flag=True, help=flag.help)(called)
    return called


def _name(flag: ReportFlag) -> str:
    return flag.flag.lstrip("-").replace("-", "_")
