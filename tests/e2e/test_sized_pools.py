"""Models whose sizes are ranges on a board of several memories: at a small size the fast one may hold what
needs the slow one at the largest."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from codegen.driver.build import build
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.report.size_gaps import sizes_lines, sizes_report
from codegen.driver.sized_run import complaints_at, run_at
from codegen.program.interface import EntryMode, Interface, IoMode, PoolOwner
from codegen.program.size_ranges import breakpoints
from tests.e2e.test_sizes import check_engine, needs_engine
from tests.search.ranges.networks import Network, overlapping, residual

WAYS: dict[str, dict[str, object]] = {
    "static": {},
    "caller": {"io": IoMode.CALLER},
    "both": {"interface": Interface(entry=EntryMode.STEPS, pools=PoolOwner.CALLER)},
    "sandboxed": {"sandbox": True},
}


@needs_engine
@pytest.mark.qemu
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("draw", "dims", "limit"),
    [(overlapping, ["x0.0=1..4", "x0.1=40..40"], 2000), (residual, ["x0.1=16..48"], 600)],
    ids=["two_parts", "three_parts"],
)
def test_buffers_lie_in_another_pool_in_a_part_of_the_range(
    draw: Callable[[], Network], dims: list[str], limit: int, way: str, tmp_path: Path
) -> None:
    """A buffer had one pool for the whole range: vww_96_float of one image took 157,104 bytes of mps3-an547,
    111,024 in its own build, as its input lay in SRAM, where that of eight images has to."""
    network = draw()
    path = tmp_path / "m.tflite"
    path.write_bytes(network.data)
    limits = {"dtcm": limit}
    options = Options(board="mps3-an547", dims=parsed(dims), pool_limits=limits, **WAYS[way])  # pyright: ignore[reportArgumentType]
    built = build([path], options, tmp_path / "out", emulated=True)
    program = built.models[0].program
    ranges = program.ranges
    assert ranges is not None
    assert ranges.moved and all(len(set(pools)) == 2 for pools in ranges.moved.values())
    assert ("x0" in ranges.moved) == (way != "caller")
    for pool, peaks in ranges.peaks.items():
        most = max(peak.planned_bytes for peak in peaks)
        assert most == peaks[-1].planned_bytes == program.memory.peak_bytes(pool)

    found = run_at(built, breakpoints(ranges), seed=3, port=None, sandboxed=way == "sandboxed")
    assert complaints_at(found) == []
    check_engine(network.data, found)


def test_the_report_and_the_source_say_where_buffers_lie(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(residual().data)
    dims = parsed(["x0.0=1..4", "x0.1=40..40"])
    options = Options(board="mps3-an547", dims=dims, pool_limits={"dtcm": 2000})
    built = build([path], options, tmp_path / "out", emulated=True)
    program = built.models[0].program
    report = sizes_report(program)
    assert report is not None
    first, last = cast("list[dict[str, object]]", report["parts"])
    buffers = ("conv0", "conv1", "concat3")
    assert first["moved"] == [{"buffer": each, "pool": "dtcm"} for each in buffers]
    assert last["moved"] == []
    line = "          conv0 lies in dtcm, conv1 lies in dtcm, concat3 lies in dtcm"
    assert list(sizes_lines(program)).count(line) == 1
    source = (built.folder / "m.c").read_text(encoding="utf-8")
    assert re.search(r"&\(part < 1 \? m_dtcm_pool : m_sram_pool\)\[", source)
