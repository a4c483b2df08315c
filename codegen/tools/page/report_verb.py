"""The verb `report`: report.json as a page, and as files of other viewers."""

from pathlib import Path

import click

from codegen.api import DATA, PAGE, ExitCode, check_outputs, example_model, read_report, write_file
from codegen.tools.page import TOOL
from codegen.tools.page.overlay import overlay
from codegen.tools.page.page_files import write_page
from codegen.tools.page.trace import trace


@click.command(help=TOOL.verbs["report"].help)
@click.argument("source", required=False, type=click.Path(path_type=Path), metavar="[DIR|report.json]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="report.html",
    help="The page; without it report.html beside report.json.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="DIR|report.json",
    help="Show what is different from this earlier build.",
)
@click.option(
    "--trace",
    "trace_file",
    type=click.Path(path_type=Path),
    metavar="trace.json",
    help="Write the steps and the bytes in use for Perfetto (ui.perfetto.dev) too.",
)
@click.option(
    "--overlay",
    "overlay_file",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="Write what each step takes as node data for Model Explorer too.",
)
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
def report(
    source: Path | None,
    output: Path | None,
    against: Path | None,
    trace_file: Path | None,
    overlay_file: Path | None,
    quiet: bool,
) -> int:
    """`codegen report`."""
    path = source or Path("out") / example_model().stem
    folder = path if path.is_dir() else path.parent
    target = output or folder / PAGE
    outputs = (("-o", target), ("--trace", trace_file), ("--overlay", overlay_file))
    written = [(flag, file) for flag, file in outputs if file is not None]
    reports = [source for source in (path, against) if source is not None]
    files = [source / DATA if source.is_dir() else source for source in reports]
    check_outputs(written, [("read by this command", file) for file in files])
    document = read_report(path)
    lines = [write_page(document, target, folder, None if against is None else read_report(against))]
    if trace_file is not None:
        write_file(trace_file, trace(document).encode())
        lines.append(f"written   {trace_file}  (steps over time, for ui.perfetto.dev)")
    if overlay_file is not None:
        write_file(overlay_file, overlay(document).encode())
        lines.append(f"written   {overlay_file}  (node data for Model Explorer)")
    if not quiet:
        click.echo("\n".join(lines))
    return ExitCode.OK
