"""The table of docs/npu_commands.md against the model's decoder, and against Vela's list of commands."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from codegen.ethos_u.functional_model import run_stream
from tests.checkout import ROOT
from tests.ethos_u import streams

_ROW = re.compile(r"\| ([01]) \| 0x([0-9a-f]{3}) \| (NPU_\w+) \| (.+) \|")
_UNKNOWN = "a command that the device does not have"
_REFUSED = "a command or mode that the model leaves out"
_VELA = ROOT / ".venv-engines" / "lib"


def _table() -> dict[tuple[int, int], tuple[str, str]]:
    """(kind, code) -> name and what the model does."""
    text = (ROOT / "docs" / "npu_commands.md").read_text(encoding="utf-8")
    return {(int(kind), int(code, 16)): (name, note) for kind, code, name, note in _ROW.findall(text)}


def _run(*commands: list[int], device: str = "ethos-u55-128") -> str | None:
    memory = [np.zeros(256, np.uint8) for _ in range(3)]
    regions = [*memory, *[None] * 5]
    places = (streams.short(code, 1) for code in (0x10F, 0x11F, 0x131, 0x18F))
    return run_stream(device, streams.stream(*places, *commands), regions, [False, True, True, *[False] * 5])


def _command(kind: int, code: int, value: int) -> list[int]:
    return streams.long(code, value) if kind else streams.short(code, value)


def test_every_command_of_the_table_is_decoded() -> None:
    """As one that fits a tensor of one element; weights are all zeros, which is no stream of weights."""
    for (kind, code), (name, _) in _table().items():
        fault = _run(_command(kind, code, 0))
        assert fault is None or (code in {2, 3} and "weight" in fault), (name, fault)


def test_no_other_command_is_decoded() -> None:
    table = _table()
    for kind in (0, 1):
        for code in range(0x400):
            fault = _run(_command(kind, code, 0))
            is_unknown = fault is not None and fault.startswith(_UNKNOWN)
            assert is_unknown == ((kind, code) not in table), (kind, hex(code), fault)


@pytest.mark.parametrize(
    ("code", "values", "operation"),
    [
        (0x105, [3 << 2, 2 << 6, 3 << 8, 3 << 14], 5),
        (0x114, [3 << 1, 2 << 6, 3 << 14], 5),
        (0x185, [3 << 2, 2 << 6], 6),
        (0x107, [3], 5),
        (0x122, [1 << 5], 2),
        (0x123, [1], 5),
        (0x124, [2, 3], 5),
        (0x125, [1, 2, 5, 15, 24, 31, 1 << 12, 4 << 12, 6 << 12, 7 << 12], 5),
    ],
)
def test_values_that_are_left_out_are_refused_by_their_register(
    code: int, values: list[int], operation: int
) -> None:
    name, note = _table()[0, code]
    assert "decoded" in note, name
    for value in values:
        fault = _run(streams.short(code, value), [operation])
        assert fault is not None
        assert fault.startswith(_REFUSED)
        assert fault.endswith(f"address {code:#x})")


def test_a_stream_for_two_cores_runs_on_two() -> None:
    assert _run(streams.short(0x123, 1), [5], device="ethos-u65-512") is None


def _commands_of_vela() -> Iterator[tuple[int, int, str]]:
    [source] = _VELA.glob("python*/site-packages/ethosu/vela/ethos_u55_regs/ethos_u55_regs.py")
    kind = None
    for line in source.read_text(encoding="utf-8").splitlines():
        if declared := re.match(r"class (\w+)\(", line):
            kind = {"cmd0": 0, "cmd1": 1}.get(declared[1])
        elif kind is not None and (member := re.match(r"\s+(NPU_\w+) = (\w+)", line)):
            yield kind, int(member[2], 0), member[1]


@pytest.mark.skipif(
    not list(_VELA.glob("python*/site-packages/ethosu")),
    reason="make engines installs Vela, whose list it is",
)
def test_the_table_is_velas_list() -> None:
    assert {(kind, code): name for kind, code, name in _commands_of_vela()} == {
        key: name for key, (name, _) in _table().items()
    }
