"""The verb explain: what docs/errors.md says of a message code."""

import difflib
import re
import textwrap
from collections.abc import Iterator

import click

from codegen import resources
from codegen.cli.verb_table import VERBS
from codegen.errors import CodegenError, ExitCode, Message

_SECTION = re.compile(r"^## (?P<title>.+)$")
_ENTRY = re.compile(r"^- \*\*(?P<codes>E\d{3}(?:, E\d{3})*)\*\*: (?P<text>.*)$")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WIDTH = 80


def entries() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Section, codes and text of each entry of docs/errors.md, in its order."""
    section, codes, text = "", (), ""
    for line in (resources.folder("docs") / "errors.md").read_text(encoding="utf-8").splitlines():
        entry = _ENTRY.match(line)
        if codes and not line.startswith("  "):
            yield section, codes, text
            codes = ()
        if entry is not None:
            codes, text = tuple(entry["codes"].split(", ")), entry["text"]
        elif codes:
            text += f" {line.strip()}"
        elif (heading := _SECTION.match(line)) is not None:
            section = heading["title"]
    if codes:
        yield section, codes, text


def plain(text: str) -> str:
    """Without the marks of Markdown."""
    return _LINK.sub(r"\1", text).replace("**", "")


@click.command(help=VERBS["explain"].help)
@click.argument("code", metavar="CODE")
def explain(code: str) -> int:
    """`codegen explain`."""
    asked_code = code.strip("[]:").upper().removeprefix("ERROR[")
    known: list[str] = []
    for section, codes, text in entries():
        known += codes
        if asked_code in codes:
            click.echo(f"{', '.join(codes)}  ({section})\n")
            click.echo(textwrap.fill(plain(text), _WIDTH, break_long_words=False, break_on_hyphens=False))
            return ExitCode.OK
    near = difflib.get_close_matches(asked_code, known, n=3, cutoff=0.7)
    guess = f"did you mean {' or '.join(near)}? " if near else ""
    help_ = f"{guess}codes are {min(known)} to {max(known)}, as in `error[E401]`; docs/errors.md has all"
    raise CodegenError(Message(code="E201", text=f"no message has the code {code!r}", help=help_))
