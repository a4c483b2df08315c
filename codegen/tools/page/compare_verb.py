"""The verb `compare`: what is different between two builds, and which of it is too much."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec

from codegen.api import (
    DATA,
    CodegenError,
    ExitCode,
    Message,
    Messages,
    check_outputs,
    counted,
    read_report,
    show_error,
    size_bytes,
    table,
    temporary_folder,
)
from codegen.report_file import typed
from codegen.tools.page import TOOL
from codegen.tools.page.differences import Change, Differences, Figure, differences
from codegen.tools.page.page_files import write_page

_LABELS: Mapping[str, tuple[str, ...]] = {
    "ram": ("RAM, all pools",),
    "constants": ("constants",),
    "code": ("code of the model",),
    "flash": ("constants", "code of the model"),
    "stack": ("stack, static bound",),
    "macs": ("multiply-accumulates",),
    "instructions": ("instructions",),
    "cycles": ("cycles",),
}
"""Word of a limit -> the figures that it adds up."""
_LIMIT = re.compile(r"(?P<word>[a-z]+)(?:\.(?P<pool>\w+))?\+(?:(?P<percent>\d+(?:\.\d+)?)%|(?P<more>\w+))")
_SHOWN = 20
"""Steps and buffers that the text names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """`ram+2%`, `ram.sram+512`, `instructions+0`: how much a figure may grow."""

    text: str
    labels: tuple[str, ...]
    percent: float | None
    more: int

    def exceeded(self, figures: Sequence[Figure]) -> Iterator[str]:
        """A line for each figure (each model's) that grew by more. Raises CodegenError E288 for one that a
        report has not."""
        of_labels = [[figure for figure in figures if _is_called(figure, label)] for label in self.labels]
        sums = [
            tuple(zip(*((figure.before, figure.after) for figure in parts), strict=True))
            for parts in zip(*of_labels, strict=True)
        ]
        if not sums or any(None in side for both in sums for side in both):
            help_ = "instructions are those of `codegen run -o DIR`, code and stack those of a build"
            text = f"--fail-if {self.text}: one of the reports has no such figure"
            raise CodegenError(Message(code="E288", text=text, help=help_))
        for olds, news in sums:
            old, new = sum(filter(None, olds)), sum(filter(None, news))
            most = old + self.more if self.percent is None else old * (100 + self.percent) / 100
            if new > most:
                grown = f"{old:,} -> {new:,} (+{new - old:,})"
                yield f"{' and '.join(self.labels)}: {grown}, --fail-if {self.text}"


def _is_called(figure: Figure, label: str) -> bool:
    return figure.label == label or figure.label.startswith(f"{label} of ")


def limit_of(text: str) -> Limit:
    """A word of `--fail-if`. Raises CodegenError E288."""
    match = _LIMIT.fullmatch(text)
    labels = _LABELS.get(match["word"]) if match is not None else None
    if match is not None and match["pool"]:
        labels = (f"RAM, pool {match['pool']}",) if match["word"] == "ram" else None
    more = size_bytes(match["more"]) if match is not None and match["more"] else 0
    if match is None or labels is None or more is None:
        help_ = f"as ram+2%, ram.sram+512 or instructions+0; figures: {', '.join(_LABELS)}"
        raise CodegenError(Message(code="E288", text=f"--fail-if {text} is no limit", help=help_))
    percent = float(match["percent"]) if match["percent"] else None
    return Limit(text=text, labels=labels, percent=percent, more=more)


@click.command(help=TOOL.verbs["compare"].help)
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@click.option(
    "--fail-if",
    "limits",
    multiple=True,
    metavar="FIGURE+LIMIT",
    help="Exit 4 if a figure grew by more: ram+2%, ram.sram+512, flash+1K, instructions+0.5%, stack+0.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write them as a page.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but what grew too much.")
def compare(
    before: str, after: str, limits: tuple[str, ...], as_json: bool, html: Path | None, quiet: bool
) -> int:
    """`codegen compare`."""
    permitted = _permitted(limits)
    if html is not None:
        files = [Path(source) for source in (before, after)]
        read = [path / DATA if path.is_dir() else path for path in files]
        check_outputs([("--html", html)], [("read by this command", path) for path in read])
    documents = [_document(source) for source in (before, after)]
    changes = differences(*map(typed, documents))
    failed = [line for limit in permitted for line in limit.exceeded(_with_pools(changes, documents))]
    if html is not None:
        line = write_page(
            documents[1], html, Path(after) if Path(after).is_dir() else html.parent, documents[0]
        )
        if not (quiet or as_json):
            click.echo(line)
    if as_json:
        shown = {**msgspec.to_builtins(changes), "exceeded": failed}
        click.echo(msgspec.json.format(msgspec.json.encode(shown)))
    elif not quiet:
        _show(changes)
    if failed:
        show_error(CodegenError([Message(code="E411", text=line) for line in failed]))
    return ExitCode.FIT if failed else ExitCode.OK


def _permitted(limits: Sequence[str]) -> list[Limit]:
    messages, permitted = Messages(), list[Limit]()
    for text in limits:
        try:
            permitted.append(limit_of(text))
        except CodegenError as error:
            messages.take(error.messages[0])
    messages.raise_if_any()
    return permitted


def _with_pools(changes: Differences, documents: Sequence[Mapping[str, object]]) -> Sequence[Figure]:
    """Figures of limits: the only pool of both builds has its name there too."""
    plans = [typed(document).plan for document in documents]
    names = [{pool.name for pool in plan.pools} if plan else set[str]() for plan in plans]
    whole = next((figure for figure in changes.figures if figure.label == "RAM, all pools"), None)
    if whole is None or names[0] != names[1] or len(names[0]) != 1:
        return changes.figures
    return (*changes.figures, replace(whole, label=f"RAM, pool {min(names[0])}"))


def _document(source: str) -> dict[str, object]:
    """The report of a folder, of a file, or of a file in a revision of git (`REVISION:PATH`)."""
    revision, colon, path = source.partition(":")
    if Path(source).exists() or not colon or not revision or not path:
        return read_report(Path(source))
    for name in (path, f"{path.rstrip('/')}/{DATA}"):
        shown = subprocess.run(["git", "show", f"{revision}:{name}"], capture_output=True, check=False)
        # Of a folder git shows a list that begins with the word tree.
        if shown.returncode == 0 and not shown.stdout.startswith(b"tree "):
            with temporary_folder("compare") as folder:
                copy = folder / DATA
                copy.write_bytes(shown.stdout)
                try:
                    return read_report(copy)
                except CodegenError as error:
                    raise CodegenError(
                        replace(message, where=source) for message in error.messages
                    ) from error
    help_ = "give a folder of `codegen build`, its report.json, or REVISION:PATH of one that git has"
    raise CodegenError(Message(code="E204", text=f"no file {source}, and git shows none", help=help_))


def _show(differences: Differences) -> None:
    if differences.subjects:
        table(
            "",
            ["not the same", "before", "after"],
            [[e.what, e.before, e.after] for e in differences.subjects],
        )
        click.echo("")
    rows = [
        [figure.label, _number(figure.before), _number(figure.after), _change(figure), figure.percent or "-"]
        for figure in differences.figures
        if (figure.before, figure.after) != (None, None)
    ]
    table("", ["figure", "before", "after", "change", "%"], rows)
    for title, changes in (("step", differences.steps), ("buffer", differences.buffers)):
        if changes:
            click.echo("")
            click.echo(f"{counted(len(changes), title)} not the same:")
            for change in changes[:_SHOWN]:
                click.echo(f"  {_told(change)}")
            if len(changes) > _SHOWN:
                click.echo(f"  and {len(changes) - _SHOWN:,} more (--json names all)")


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _change(figure: Figure) -> str:
    return "-" if figure.change is None else f"{figure.change:+,}" if figure.change else "0"


def _told(change: Change) -> str:
    if change.what != "changed":
        return f"{change.name}: {change.what}"
    moved = [
        f"{figure.label} {_number(figure.before)} -> {_number(figure.after)}" for figure in change.figures
    ]
    return f"{change.name}: " + ", ".join(
        [*([change.note.replace("→", "->")] if change.note else []), *moved]
    )
