"""A labgrid environment as the tables of lab.toml: serial port, probe and power command of each target.

labgrid itself is needed for a QEMUDriver alone: else what is read are resources and drivers as its manual
describes them. A target's kind of board is the one of its `features` that is a board's name here.
"""

import importlib
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from codegen.api import MAX_TOML_BYTES, CodegenError, Message, install_extra, load_board
from codegen.tools.lab.labgrid_targets import DRIVER, SCHEME, open_targets

_PROBES = ("USBDebugger", "AndroidUSBFastboot", "USBFlashableDevice")
_SERIAL = "ID_SERIAL_SHORT"
Table = Mapping[str, Any]


def labgrid_tables(path: Path) -> dict[str, Any]:
    """Tables of lab.toml with the same boards. Raises ValueError for what is no environment; CodegenError
    E283 without PyYAML, or labgrid; OSError."""
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError as error:
        text, help_ = (
            "a labgrid environment is YAML, and PyYAML is not installed",
            install_extra("lab"),
        )
        raise CodegenError(Message(code="E283", where=str(path), text=text, help=help_)) from error
    data = path.read_bytes()
    if len(data) > MAX_TOML_BYTES:
        raise ValueError(f"it has more than {MAX_TOML_BYTES:,} bytes")
    if b"&" in data and b"*" in data:
        raise ValueError(
            "it has anchors and aliases, which may stand for any number of bytes: write them out"
        )
    try:
        document: object = yaml.safe_load(data)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ValueError(f"it is no plain YAML: {' '.join(str(error).split())[:300]}") from None
    targets = _table(_table(document).get("targets"))
    if not targets:
        raise ValueError("it has no targets")
    boards = [_board(str(name), _table(target)) for name, target in targets.items()]
    emulated = [board["name"] for board in boards if str(board.get("port", "")).startswith(SCHEME)]
    if emulated:
        open_targets(path, emulated)
    return {"board": boards}


def _board(name: str, target: Table) -> dict[str, Any]:
    resources, drivers = dict(_entries(target.get("resources"))), dict(_entries(target.get("drivers")))
    fields: dict[str, Any] = {"name": name, "board": _kind(name, target)}
    if DRIVER in drivers:
        _check_emulator(name, str(fields["board"]), drivers[DRIVER])
        fields["port"] = f"{SCHEME}{name}"
    elif "RawSerialPort" in resources:
        port = resources["RawSerialPort"]
        fields["port"] = port.get("port")
        fields["baud"] = port.get("speed")
    elif "NetworkSerialPort" in resources:
        port = resources["NetworkSerialPort"]
        scheme = "socket" if port.get("protocol") == "raw" else "rfc2217"
        fields["port"] = f"{scheme}://{port.get('host')}:{port.get('port')}"
        fields["baud"] = port.get("speed")
    elif any(resource.endswith("SerialPort") for resource in resources):
        raise ValueError(f"target {name}: its port has to be a RawSerialPort or a NetworkSerialPort")
    for resource in _PROBES:
        match = _table(resources.get(resource, {}).get("match"))
        fields["probe"] = match.get(_SERIAL, match.get(f"@{_SERIAL}", fields.get("probe")))
    fields["power_cycle"] = _power(drivers.get("ExternalPowerDriver", {}))
    return {key: value for key, value in fields.items() if value is not None}


def _check_emulator(name: str, kind: str, driver: Table) -> None:
    """Raise ValueError for a QEMUDriver that cannot take the firmware, or whose console is another UART."""
    if not driver.get("kernel"):
        raise ValueError(f"target {name}: {DRIVER} has no kernel: any name of an image, for the firmware")
    uart = load_board(kind).uart
    port = uart.qemu_serial if uart is not None else 0
    console = shlex.split(str(driver.get("extra_args") or "")).count("-serial")
    if console != port:
        raise ValueError(
            f"target {name}: the test link of {kind} is QEMU's serial port {port}, the console of {DRIVER} "
            f"number {console}: extra_args needs `-serial null` {port} times"
        )


def _kind(name: str, target: Table) -> str:
    """Which board it is. Raises ValueError unless one feature names it."""
    features: object = target.get("features", [])
    words = cast("list[object]", features) if isinstance(features, list) else [features]
    kinds = [str(word) for word in words if _is_board(str(word))]
    if len(kinds) != 1:
        said = f"{', '.join(kinds)} do" if kinds else "none does"
        raise ValueError(f"target {name}: one of its features has to name its board (codegen boards): {said}")
    return kinds[0]


def _is_board(word: str) -> bool:
    if "/" in word or word.endswith(".toml"):
        return False  # a feature is no path
    try:
        load_board(word)
    except CodegenError:
        return False
    return True


def _power(driver: Table) -> str | None:
    """The command of an ExternalPowerDriver; off and on in one shell where it has no cycle."""
    if driver.get("cmd_cycle"):
        return str(driver["cmd_cycle"])
    if driver.get("cmd_off") and driver.get("cmd_on"):
        pause = float(driver.get("delay", 2.0))
        return shlex.join(("sh", "-c", f"{driver['cmd_off']} && sleep {pause:g} && {driver['cmd_on']}"))
    return None


def _entries(value: object) -> Iterator[tuple[str, Table]]:
    """Resources or drivers: a mapping of classes, or a list of such mappings."""
    for part in cast("list[object]", value) if isinstance(value, list) else [value]:
        for name, values in _table(part).items():
            yield str(name), _table(values)


def _table(value: object) -> Table:
    return cast("Table", value) if isinstance(value, dict) else {}
