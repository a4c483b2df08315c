"""The verbs that tell: ops, planners, and boards (all, one in detail, or as JSON).

Each imports what it tells of: `codegen boards` needs no kernel.
"""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from codegen import board as catalogue
from codegen.board.catalog.board_names import short_title
from codegen.board.flash.commands import load_commands, tools_for
from codegen.cli.verb_table import VERBS
from codegen.command.console import table
from codegen.documents import to_json
from codegen.driver.inputs.files import existing
from codegen.errors import ExitCode
from codegen.ir import Board, Cache, Region, Runner
from codegen.targets.families import family_of

_OF_DOUBLES = "Add, Sub, Mul, Div, Sum, Max, Min, Clip, comparisons, Cast, and what moves elements"

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")


@click.command(help=VERBS["ops"].help)
@_JSON
def ops(as_json: bool) -> int:
    """`codegen ops`."""
    from codegen.driver.supported_ops import onnx_functions, onnx_node_types, supported_ops

    known = supported_ops()
    functions, unknown = onnx_functions()
    if as_json:
        document = {
            "ops": {op.name: op.kernels for op in known},
            "imported_as": {op.name: op.imported_as for op in known},
            "onnx": onnx_node_types(),
            "onnx_functions": functions,
        }
        click.echo(to_json({"schema": 1, **document}), nl=False)
    else:
        table("", ["operator", "kernels"], [[op.name, op.note + ", ".join(op.kernels)] for op in known])
        _wrap(f"ONNX node types, in float32: {', '.join(onnx_node_types())}")
        _wrap(f"By ONNX's own functions, of those node types: {unknown or ', '.join(functions)}")
        _wrap(f"In float64: {_OF_DOUBLES}")
    return ExitCode.OK


def _wrap(text: str) -> None:
    """A paragraph on stdout, in lines of 80 columns."""
    click.echo(
        textwrap.fill(text, 80, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    )


@click.command(help=VERBS["planners"].help)
@_JSON
def planners(as_json: bool) -> int:
    """`codegen planners`."""
    from codegen.plan.place import planners as plan_planners

    names = plan_planners.names()
    if as_json:
        click.echo(to_json({"schema": 1, "planners": list(names)}), nl=False)
    else:
        for name in names:
            click.echo(name)
    return ExitCode.OK


_GROUPS = (
    (Runner.QEMU, "run on QEMU"),
    (Runner.HOST, "run on this machine"),
    (Runner.NONE, "built only; with a port, `run --port` reaches the real board"),
)


@click.command(help=VERBS["boards"].help)
@click.argument("name", required=False, metavar="[BOARD]")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")
@click.option(
    "--fit",
    "model",
    type=click.Path(path_type=Path),
    metavar="MODEL",
    help="Rank the boards by what MODEL takes of each: RAM, flash, time, energy, or the bytes it lacks.",
)
def boards(name: str | None, as_json: bool, model: Path | None) -> int:
    """`codegen boards`."""
    known = catalogue.boards() if name is None else (catalogue.load_board(name),)
    if model is not None:
        from codegen.cli.boards.board_fits import show_fits

        show_fits(existing(model), among=known, as_json=as_json)
    elif as_json:
        click.echo(to_json({"schema": 1, "boards": [_document(board) for board in known]}), nl=False)
    elif name is not None:
        _show(known[0])
    else:
        _list(known)
    return ExitCode.OK


def _list(known: Sequence[Board]) -> None:
    """A table a way of running, rows by the chip's maker."""
    for index, (runner, what) in enumerate(_GROUPS):
        members = [board for board in known if board.runner is runner]
        members.sort(key=lambda board: (board.vendor, board.name))
        if index:
            click.echo()
        table(what, ["board", "core", "RAM", "flash", "port", "chip"], [_row(b) for b in members])
    click.echo("\n`codegen boards BOARD` tells all of one; --json all of all.")


def _row(board: Board) -> list[str]:
    names = [board.chip or short_title(board), *board.aliases]
    return [
        board.name,
        board.target.cpu.removeprefix(family_of(board.target.cpu).cores.prefix),
        _size(sum(region.size_bytes for region in board.regions if region.writable)),
        _size(sum(region.size_bytes for region in board.regions if not region.writable)),
        _port(board),
        ", ".join(names),
    ]


def _size(size_bytes: int) -> str:
    """Rounded down where it is no whole number of KiB: a list, not an account."""
    mebi, kibi = 1 << 20, 1 << 10
    return f"{size_bytes // mebi}M" if size_bytes % mebi == 0 else f"{size_bytes // kibi}K"


def _port(board: Board) -> str:
    if board.uart is None:
        return "-"
    return "untested" if board.uart.untested else "yes"


def _show(board: Board) -> None:
    """One board: its facts, a table of its memories, where the figures come from."""
    for label, text in _facts(board):
        if text:
            click.echo(f"{label:<12}{text}")
    click.echo()
    columns = [
        "memory",
        "address",
        "bytes",
        "cost",
        "wait states",
        "code",
        "DMA",
        "cached",
        "retained",
        "what for",
    ]
    table("", columns, [_memory(board, region) for region in board.regions])
    if board.sources:
        click.echo("\nfigures from")
        for source in board.sources:
            click.echo(f"  {source}")


def _facts(board: Board) -> Iterable[tuple[str, str]]:
    uart = board.uart
    yield "board", ", ".join((board.name, *board.aliases))
    yield "what", board.title
    yield "core", f"{board.target.cpu} ({', '.join(sorted(board.target.features)) or 'no extensions'})"
    yield "second core", "device 1 of [[place]]: runs what is placed there" if board.second_core else ""
    yield "clock", _clock(board)
    yield "energy", _energy(board)
    npu = board.npu
    yield "NPU", f"{', '.join(npu.devices)}; reaches {', '.join(npu.reach)}" if npu else ""
    yield "caches", ", ".join(_cache(cache) for cache in board.caches)
    yield (
        "run on",
        {Runner.QEMU: f"QEMU ({board.qemu_machine})", Runner.HOST: "this machine"}.get(board.runner, ""),
    )
    if board.runner is not Runner.HOST:
        tested = ", driver untested on this board" if uart is not None and uart.untested else ""
        yield "port", f"{uart.driver} at {uart.baud} baud{tested}" if uart else "none: no driver for its UART"
    yield "flash with", board.flash_tool or ", ".join(tool.name for tool in tools_for(board))


def _flash_tool(board: Board) -> str | None:
    """A command that puts firmware.elf on the board, by the first of its tools."""
    able = [tool.name for tool in tools_for(board)]
    if not able and board.flash_tool is None:
        return None
    has_command = board.flash_tool is not None and board.flash_tool not in able
    commands = load_commands(
        board, Path("firmware.elf"), tool=None if has_command else board.flash_tool or able[0], shown=True
    )
    return " && ".join(commands.lines)


def _clock(board: Board) -> str:
    rated = f", rated {board.rated_clock_hz / 1e6:g} MHz" if board.rated_clock_hz else ""
    return f"{board.clock_hz / 1e6:g} MHz in the test firmware{rated}" if board.clock_hz else ""


def _energy(board: Board) -> str:
    if board.power is None:
        return "no published current of the running core"
    current, volts = board.power.microamps_per_megahertz, board.power.volts
    picojoules = board.power.picojoules_per_cycle
    return f"{picojoules:g} pJ a cycle: {current:g} uA/MHz at {volts:g} V ({board.power.source})"


def _cache(cache: Cache) -> str:
    return f"{cache.kind.value} {cache.size_bytes:,} bytes in lines of {cache.line_bytes}"


def _memory(board: Board, region: Region) -> list[str]:
    uses = [] if not region.writable else [f"pool {region.pool_name}"]
    uses += ["code"] if region.name == board.code_region else []
    uses += ["constants"] if not region.writable else []
    uses += ["data, stack"] if region.name == board.data_region else []
    flags = (region.executable, region.dma, region.cacheable, region.retained)
    return [
        region.name,
        f"0x{region.address:08x}",
        f"{region.size_bytes:,}",
        f"{region.access_cost:g}",
        "" if region.wait_states is None else str(region.wait_states),
        *("yes" if flag else "no" for flag in flags),
        ", ".join(uses) + ("" if region.emulated else " (not on QEMU)"),
    ]


def _document(board: Board) -> dict[str, object]:
    return {
        "name": board.name,
        "aliases": list(board.aliases),
        "title": board.title,
        "chip": board.chip,
        "vendor": board.vendor,
        "cpu": board.target.cpu,
        "features": sorted(board.target.features),
        "clock_hz": board.clock_hz,
        "rated_clock_hz": board.rated_clock_hz,
        "power": _power_document(board),
        "runner": board.runner.value,
        "port": _port_document(board),
        "npu": None if board.npu is None else {"devices": board.npu.devices, "reach": board.npu.reach},
        "flash_tool": _flash_tool(board),
        "flash_tools": [tool.name for tool in tools_for(board)],
        "caches": [
            {"kind": cache.kind.value, "size_bytes": cache.size_bytes, "line_bytes": cache.line_bytes}
            for cache in board.caches
        ],
        "code_region": board.code_region,
        "data_region": board.data_region,
        "reserved_bytes": board.reserved_bytes,
        "stack_bytes": board.stack_bytes,
        "regions": [_region(region) for region in board.regions],
        "sources": list(board.sources),
    }


def _power_document(board: Board) -> dict[str, object] | None:
    power = board.power
    return power and {
        "microamps_per_megahertz": power.microamps_per_megahertz,
        "volts": power.volts,
        "source": power.source,
    }


def _port_document(board: Board) -> dict[str, object] | None:
    uart = board.uart
    return uart and {"driver": uart.driver, "baud": uart.baud, "untested": uart.untested}


def _region(region: Region) -> dict[str, object]:
    return {
        "name": region.name,
        "address": region.address,
        "size_bytes": region.size_bytes,
        "writable": region.writable,
        "executable": region.executable,
        "access_cost": region.access_cost,
        "wait_states": region.wait_states,
        "fetch_bytes": region.fetch_bytes,
        "dma": region.dma,
        "cacheable": region.cacheable,
        "retained": region.retained,
        "emulated": region.emulated,
    }
