"""The verb doctor: what this machine can do, in ten lines; with --verbose everything that was looked for."""

import shutil
from collections.abc import Iterable, Iterator, Sequence

import click

from codegen import board as catalogue
from codegen.board.flash.tools import TOOLS
from codegen.cli.boards.tool_flags import BAUD, REAL_PORT
from codegen.cli.verb_table import VERBS
from codegen.documents import to_json
from codegen.errors import ExitCode, listed
from codegen.ir import Board, Runner
from codegen.targets.families import core_families, family_of
from codegen.toolchain.finding import Finding, Topic

_TITLES = {
    Topic.PYTHON: "Python and its packages",
    Topic.CROSS: "compiler for {family} boards",
    Topic.QEMU: "QEMU, to run without hardware",
    Topic.HOST: "compiler for board host",
    Topic.EXTRAS: "optional packages and programs",
    Topic.FLASH: "flash tools for real boards",
    Topic.PORT: "port",
}
_SHOWN = 3
_HOST_ONLY = "build and run for board host"
_NO_TOOL = "no flash tool is installed (`codegen doctor --board BOARD` says which would do)"


@click.command(help=VERBS["doctor"].help)
@click.option("--board", "name", metavar="BOARD", help="Look at what this real board is flashed with too.")
@REAL_PORT
@BAUD
@click.option("-v", "--verbose", is_flag=True, help="Everything that was looked for, a line each.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")
def doctor(name: str | None, port: str | None, baud: int | None, verbose: bool, as_json: bool) -> int:
    """`codegen doctor`."""
    from codegen import toolchain
    from codegen.cli.boards.board_doctor import board_findings

    board = None if name is None else catalogue.load_board(name)
    findings = toolchain.doctor(catalogue.boards(), board)
    asked = [] if board is None else board_findings(board, port, baud)
    everything = (*findings, *asked)
    if as_json:
        click.echo(
            to_json({"schema": 1, "findings": [_document(finding) for finding in everything]}), nl=False
        )
    elif verbose:
        show_findings(everything)
    else:
        for line in summary(findings, with_flash=not asked):
            click.echo(line)
        show_findings(asked)
    if not as_json:
        click.echo(f"\n{verdict(everything, board)}")
    needed = [finding for finding in everything if not finding.ok and not finding.optional]
    return ExitCode.TOOLCHAIN if needed else ExitCode.OK


def show_findings(findings: Sequence[Finding]) -> None:
    """A line each, and behind what is missing the command that installs it."""
    for finding in findings:
        mark = "ok      " if finding.ok else "optional" if finding.optional else "MISSING "
        click.echo(f"{mark}  {finding.name}: {finding.detail}")
        if not finding.ok:
            click.echo(f"          for {finding.required_for}; install: {finding.install}")


def summary(findings: Sequence[Finding], *, with_flash: bool) -> Iterator[str]:
    """A line a topic; of what builds need and is missing also the commands that install it."""
    cross = _families(findings)
    for topic, family in [
        (title, name) for title in _TITLES for name in (cross if title is Topic.CROSS else [""])
    ]:
        members = [finding for finding in findings if (finding.topic, finding.family) == (topic, family)]
        title = _TITLES[topic].format(family=_title(family))
        missing = [finding for finding in members if not finding.ok]
        if topic is Topic.FLASH and with_flash:
            here = flash_tools_here()
            yield f"{'ok      ' if here else 'optional'}  {title}: {listed(here) or 'none is installed'}"
        elif members and not missing:
            yield f"ok        {title}: {_detail(members)}"
        elif members:
            needed = _blamed(members)
            mark = "MISSING " if needed else "optional"
            names = listed([finding.name for finding in needed or missing], _SHOWN)
            yield f"{mark}  {title}: {names} missing{'' if needed else ' (-v: all)'}"
            yield from (f"          {finding.install}" for finding in needed)


def _blamed(members: Sequence[Finding]) -> list[Finding]:
    """Missing needs of a topic. If the program that leads the topic is missing, it stands for all of them."""
    needed = [finding for finding in members if not finding.ok and not finding.optional]
    return needed[:1] if needed and needed[0] is members[0] else needed


def _detail(members: Sequence[Finding]) -> str:
    """The version of what leads a topic, and how much else there is."""
    others = len(members) - 1
    lead = members[0].detail
    return f"{lead}, and {others:,} more" if others else lead


def flash_tools_here() -> list[str]:
    """Flash tools that are installed; a drive that takes files is none of them."""
    return [tool.name for tool in TOOLS.values() if not tool.needs_drive and shutil.which(tool.program)]


def verdict(findings: Sequence[Finding], board: Board | None = None) -> str:
    """A sentence: verbs that work on this machine, with `board` if one is given, and why others do not."""
    lacking = {
        topic: [lack.name for lack in _blamed([finding for finding in findings if finding.topic is topic])]
        for topic in Topic
    }
    cross = {
        family: [lack.name for lack in _blamed([finding for finding in findings if finding.family == family])]
        for family in _families(findings)
    }
    able_families = [family for family, names in cross.items() if not names]
    if board is not None:
        unbuilt = cross.get(family_of(board.target.cpu).name, [])
    else:
        unbuilt = [] if able_families else [name for names in cross.values() for name in names]
    build = lacking[Topic.PYTHON] + unbuilt
    if board is not None and board.runner is Runner.NONE:
        reasons = {
            "build": _reason(build),
            f"run on {board.name}": _reason(build) or no_port_reason(findings, board),
        }
    else:
        reasons = {"build": _reason(build), "run": _reason(build + lacking[Topic.QEMU])}
        for family, names in cross.items():
            if names and able_families and board is None:
                reasons[f"build for {_title(family)} boards"] = _reason(names)
    if any(finding.topic is Topic.FLASH for finding in findings):
        reasons["flash"] = _reason(lacking[Topic.FLASH])
    else:
        reasons["flash"] = "" if flash_tools_here() else _NO_TOOL
    able = [verb for verb, reason in reasons.items() if not reason]
    if build and not lacking[Topic.PYTHON] + lacking[Topic.HOST]:
        able.append(_HOST_ONLY)
    causes = dict.fromkeys(reason for reason in reasons.values() if reason)
    unable = [
        f"you cannot {' or '.join(_said(verb, able, cross) for verb in reasons if reasons[verb] == cause)}, "
        f"because {cause}"
        for cause in causes
    ]
    text = "; ".join([*([f"you can {_joined(able)}"] if able else []), *unable])
    return f"{text[0].upper()}{text[1:]}."


def no_port_reason(findings: Sequence[Finding], board: Board) -> str:
    """Why a board that QEMU does not emulate cannot run anything now; empty if its port answers."""
    ports = [finding for finding in findings if finding.topic is Topic.PORT]
    refused = [f"{finding.name}: {finding.detail}" for finding in ports if not finding.ok]
    if ports:
        return "; ".join(refused)
    link = "no port is given (--port)" if board.uart else "there is no driver for its UART"
    return f"QEMU does not emulate it and {link}"


def _said(verb: str, able: Sequence[str], families: Iterable[str]) -> str:
    """The verb, and where another board can be built for, for which boards it is not."""
    if _HOST_ONLY not in able or verb not in ("build", "run"):
        return verb
    return f"{verb} for {listed([_title(family) for family in families])} boards"


def _families(findings: Iterable[Finding]) -> list[str]:
    """Core families whose compilers were looked for."""
    return list(dict.fromkeys(finding.family for finding in findings if finding.topic is Topic.CROSS))


def _title(family: str) -> str:
    """Common name of the boards of a core family."""
    return next((known.title for known in core_families() if known.name == family), family)


def _reason(names: Sequence[str]) -> str:
    """Why something does not work; empty if it does."""
    return f"{listed(names, _SHOWN)} {'is' if len(names) == 1 else 'are'} missing" if names else ""


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _document(finding: Finding) -> dict[str, object]:
    return {
        "name": finding.name,
        "topic": finding.family or finding.topic.value,
        "ok": finding.ok,
        "required_for": finding.required_for,
        "detail": finding.detail,
        "install": finding.install,
    }
