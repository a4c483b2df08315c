"""Networks with branches whose best order saves RAM: written with our writer, measured on QEMU.

In the file the steps stand breadth first, which keeps every branch alive at once.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.build import build
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute, used_pools
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.program.problem import peak_bytes
from codegen.search.steps.schedule import ScheduleMode

SCALE = 0.05
SIDE = 8


class _Net:
    """Builds a net of 1x1 convolutions and additions over int8 images of SIDE x SIDE."""

    def __init__(self, channels: int) -> None:
        self.builder = ModelBuilder()
        self.dice = np.random.default_rng(7)
        self.count = 0
        self.first = self.image(channels, "image")
        self.widths = {self.first: channels}

    def image(self, channels: int, name: str) -> int:
        return self.builder.tensor(name, (1, SIDE, SIDE, channels), "int8", scale=SCALE, zero_point=0)

    def conv(self, source: int, channels: int) -> int:
        self.count += 1
        inputs = self.widths[source]
        weights = self.dice.integers(-127, 128, (channels, 1, 1, inputs)).astype(np.int8)
        bias = self.dice.integers(-500, 500, channels).astype(np.int32)
        w = self.builder.tensor(
            f"w{self.count}", weights.shape, "int8", scale=0.01, zero_point=0, data=weights
        )
        b = self.builder.tensor(f"b{self.count}", bias.shape, "int32", scale=SCALE * 0.01, data=bias)
        result = self.image(channels, f"conv{self.count}")
        self.widths[result] = channels
        self.builder.op("CONV_2D", [source, w, b], [result], padding="SAME", stride_h=1, stride_w=1)
        return result

    def add(self, left: int, right: int) -> int:
        self.count += 1
        result = self.image(self.widths[left], f"add{self.count}")
        self.widths[result] = self.widths[left]
        self.builder.op("ADD", [left, right], [result])
        return result

    def build(self, result: int) -> bytes:
        self.builder.inputs(self.first)
        self.builder.outputs(result)
        return self.builder.build()


def inception() -> bytes:
    """Four branches that widen to 32 channels and narrow to 4, all widened first."""
    net = _Net(8)
    wide = [net.conv(net.first, 32) for _ in range(4)]
    narrow = [net.conv(each, 4) for each in wide]
    total = narrow[0]
    for each in narrow[1:]:
        total = net.add(total, each)
    return net.build(total)


def nas() -> bytes:
    """Two cells; each combines five pairs, every pair's wide halves computed before any sum."""
    net = _Net(8)
    previous, current = net.first, net.conv(net.first, 8)
    for _ in range(2):
        halves = [(net.conv(previous, 24), net.conv(current, 24)) for _ in range(3)]
        sums = [net.add(left, right) for left, right in halves]
        narrow = [net.conv(each, 8) for each in sums]
        total = narrow[0]
        for each in narrow[1:]:
            total = net.add(total, each)
        previous, current = current, total
    return net.build(current)


def randwire() -> bytes:
    """A random acyclic graph: wide nodes in the order of their numbers, each read by a later narrow sum."""
    net = _Net(4)
    dice = np.random.default_rng(3)
    wide = [net.conv(net.first, int(width)) for width in dice.integers(12, 40, 6)]
    narrow = [net.conv(each, 4) for each in wide]
    nodes = [net.first, *narrow]
    for _ in range(5):
        left, right = (int(node) for node in dice.choice(len(nodes), 2, replace=False))
        nodes.append(net.add(nodes[left], nodes[right]))
    total = nodes[1]
    for each in nodes[2:]:
        total = net.add(total, each)
    return net.build(total)


def _peak(path: Path, mode: ScheduleMode, folder: Path) -> tuple[int, bytes, bool]:
    # `speed`: whole tensors only, so that the order alone makes the difference.
    options = Options(board="mps2-an386", optimize="speed", schedule=mode)
    built = build([path], options, folder, emulated=True)
    program = built.models[0].program
    case = pattern_case([tensor.type for tensor in program.inputs], 1)
    measured = execute(built, [case])
    assert complaints(built.models[0], [case], measured, built.image.sizes.stack_bound_bytes) == []
    (pool,) = used_pools(program)
    found = measured.result.cases[0].pool_peaks[pool]
    assert found == peak_bytes(program.problem, program.plan, pool)
    return found, measured.result.cases[0].outputs[0], program.order.reordered


@pytest.mark.qemu
@pytest.mark.parametrize("make", [inception, nas, randwire])
def test_the_best_order_saves_ram_on_the_target(make: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(make())
    file_peak, file_output, moved = _peak(path, "file", tmp_path / "file")
    assert not moved
    best_peak, best_output, moved = _peak(path, "optimal", tmp_path / "optimal")
    assert moved
    assert best_peak < file_peak
    assert best_output == file_output
