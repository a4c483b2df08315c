"""Dead channels as people read of them: news in front of all else, or one line at the end."""

import click

from codegen.command.console import table
from codegen.driver.inputs.planned import Planned
from codegen.driver.report.sections import reduction_line, reduction_news, reduction_rows, window_lines


def show_reduction_news(planned: Planned) -> None:
    """That much of the network does nothing, with its layers; nothing where little was left out."""
    news = reduction_news(planned.reduction)
    if news is not None and planned.reduction is not None:
        click.echo(f"{news}\n")
        table("", ["layer", "channels", "left", "the others are"], list(reduction_rows(planned.reduction)))
        click.echo()


def show_reduction(planned: Planned) -> None:
    """One line, where that is not told in front, and what a window that slides saves."""
    line = reduction_line(planned.reduction)
    if line is not None and reduction_news(planned.reduction) is None:
        click.echo(line)
    for text in window_lines(planned.sliding):
        click.echo(text)
