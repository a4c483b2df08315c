"""What predicted instructions do not say of a kernel's cycles, recorded for `--memory-model`.

python benchmarks/kernel_cycles.py             # writes codegen/targets/arm/kernel_cycles.csv anew
python benchmarks/kernel_cycles.py --compare   # nothing written: the error on each layer and kernel
python benchmarks/kernel_cycles.py --kernels conv2d_rgb_s8_dsp   # these alone, other lines as they are

Layers of many shapes run by each kernel in turn, on a Cortex-M4 under QEMU, through models of flash with
caches of several sizes (docs/cycles.md). Of each kernel: cycles of an instruction, readings of the flash for
one of its constants, and, by least squares without negative numbers, readings for code: for an instruction, a
call, a row of the result, a row of four channels, a tile of four pixels, one that is gathered. Deterministic;
about ten minutes.
"""

import argparse
import csv
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from layers import CHOICES, Layer

from codegen import emit, toolchain
from codegen.board import load_memory_model
from codegen.driver.build import Built
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.planned import Planned
from codegen.driver.options import Options
from codegen.driver.preparing import Prepared, prepared
from codegen.driver.report.product import product_of
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import MemoryModel
from codegen.joint import together
from codegen.kernels.base.code_bytes import constant_reads
from codegen.kernels.primfunc import PrimFunc
from codegen.search import search
from codegen.search.kernels.binding import Binder, step_key
from codegen.search.kernels.cycle_costs import layer_counts
from codegen.targets.families import family_of
from codegen.toolchain.cycles import CycleEstimate

PART = load_memory_model("stm32l4r5")
BOARD = option_board("mps2-an386", (), PART)
CACHES = (0, 1024, 4096)
"""Bytes of instruction caches; 0: none."""

LAYERS = (
    *(
        Layer(image=image, kernel=(1, 1), outputs=outputs, relu=True)
        for image, outputs in (
            ((12, 24, 32), 32),
            ((6, 6, 128), 64),
            ((8, 48, 8), 16),
            ((16, 24, 16), 32),
            ((6, 6, 57), 30),
            ((6, 6, 19), 15),
            ((3, 3, 25), 31),
            ((25, 5, 64), 64),
        )
    ),
    *(
        Layer(image=image, outputs=outputs, relu=True)
        for image, outputs in (((16, 32, 16), 16), ((16, 16, 32), 32), ((8, 8, 64), 64), ((8, 8, 64), 28))
    ),
    Layer(image=(16, 32, 16), outputs=32, stride=2),
    Layer(image=(16, 16, 32), outputs=64, stride=2),
    Layer(image=(16, 32, 3), outputs=16, relu=True),
    Layer(image=(24, 96, 3), outputs=8, stride=2, relu=True),
    Layer(image=(24, 48, 3), outputs=16, stride=2),
    Layer(image=(49, 10, 1), kernel=(10, 4), outputs=64, stride=2, relu=True),
    *(
        Layer(image=image, stride=stride, relu=True)
        for image, stride in (
            ((12, 48, 8), 1),
            ((12, 24, 32), 1),
            ((12, 12, 64), 1),
            ((6, 6, 106), 1),
            ((6, 6, 30), 1),
            ((25, 5, 64), 1),
            ((3, 3, 31), 1),
            ((24, 48, 16), 2),
            ((12, 12, 64), 2),
            ((6, 6, 60), 2),
        )
    ),
    Layer(image=(14, 14, 16), kernel=(5, 5)),
    Layer(image=(8, 12, 32), kernel=(5, 5)),
    *(
        Layer(image=(1, 1, inputs), kernel=None, outputs=outputs)
        for inputs, outputs in ((128, 128), (640, 64), (64, 12), (8, 128))
    ),
)
IN_PLACE = ((25, 5, 64), (12, 24, 32), (12, 12, 64), (6, 6, 106), (12, 48, 8))
"""Images of pairs of depthwise layers, of which the second replaces its image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A layer run by a kernel: its cycles, and readings of the flash for code by bytes of cache."""

    prim: PrimFunc
    cycles: int
    data: int
    code: dict[int, int]


def with_cache(size_bytes: int) -> MemoryModel:
    """`PART` with an instruction cache of so many bytes, and one wait a reading."""
    held = PART.instruction_cache
    assert held is not None
    cache = replace(held, rows=size_bytes // held.row_bytes) if size_bytes else None
    return replace(PART, wait_states=1, instruction_cache=cache)


def samples(
    ready: Prepared, excluded: frozenset[tuple[str, str]], folder: Path, sharing: str
) -> list[Sample]:
    """Every step of one program. Raises CodegenError."""
    choices = replace(CHOICES, blocks=False, sharing=sharing, schedule="file", stage="off")
    program = search(ready.module, BOARD, choices, name="layers", excluded=excluded)
    bundle = together([program])
    sources = emit.render(bundle)
    emit.write(sources, folder)
    image = toolchain.build(sources, folder, BOARD, optimize="speed")
    planned = Planned(module=ready.module, program=program, macs=ready.macs)
    product = product_of(bundle, sources, (), image.sizes)
    built = Built(models=(planned,), bundle=bundle, board=BOARD, image=image, folder=folder, product=product)
    case = pattern_case([each.type for each in program.signature.inputs], 0)
    found: dict[int, CycleEstimate] = {
        size: estimate_cycles(built, case, memory=with_cache(size)) for size in CACHES
    }
    return [
        Sample(
            prim=prim,
            cycles=found[0].cycles[step],
            data=(found[0].waits or ())[step].data,
            code={size: (each.waits or ())[step].code for size, each in found.items()},
        )
        for step, prim in enumerate(program.steps.prim_funcs)
        if prim.instructions is not None
    ]


def model(folder: Path, chains: Sequence[Sequence[Layer]]) -> Prepared:
    """All layers in one model, those of a chain one behind the other."""
    builder = ModelBuilder()
    ends: list[tuple[int, int]] = []
    for index, chain in enumerate(chains):
        first, last = chain[0].add(builder, f"c{index}_0_")
        for place, layer in enumerate(chain[1:], start=1):
            _, last = layer.add(builder, f"c{index}_{place}_", last)
        ends.append((first, last))
    builder.inputs(*(first for first, _ in ends))
    builder.outputs(*(last for _, last in ends))
    path = folder / "layers.tflite"
    path.write_bytes(builder.build())
    return prepared(path, Options(board=BOARD.name, reduce=False))


def able_kernels(ready: Prepared, wanted: Collection[str]) -> dict[str, tuple[list[str], list[str]]]:
    """By step: the kernels that can do it, and which of them are measured."""
    data = {id_: constant.data for id_, constant in ready.module.constants.items()}
    binder = Binder(data, BOARD.target)
    found: dict[str, tuple[list[str], list[str]]] = {}
    for let in ready.module.main.body:
        able = [
            kernel.name
            for kernel in binder.able(let)
            if binder.bind(kernel, let, let.var.name).kernel == kernel.name
        ]
        found[step_key(let)] = able, [name for name in able if is_measured(name, wanted)]
    return found


def is_measured(kernel: str, wanted: Collection[str]) -> bool:
    """One of `wanted`; where none are, any that is not portable."""
    return kernel in wanted if wanted else not kernel.endswith("_portable")


def in_turn(ready: Prepared, wanted: Collection[str]) -> Iterator[frozenset[tuple[str, str]]]:
    """What to exclude so that each measured kernel has each layer once."""
    able = able_kernels(ready, wanted)
    for turn in range(max(len(names) for _, names in able.values())):
        kept = {step: names[min(turn, len(names) - 1)] for step, (_, names) in able.items() if names}
        yield frozenset(
            (step, name)
            for step, (names, _) in able.items()
            if step in kept
            for name in names
            if name != kept[step]
        )


def takes(layer: Layer, folder: Path, wanted: Collection[str]) -> bool:
    """Whether a measured kernel can do it."""
    return any(names for _, names in able_kernels(model(folder, [[layer]]), wanted).values())


def measured(folder: Path, wanted: Collection[str]) -> list[Sample]:
    """Every kernel, or those of `wanted`, on every layer once."""
    found: dict[tuple[str, str], Sample] = {}
    layers = [layer for layer in LAYERS if takes(layer, folder, wanted)]
    ready = model(folder, [[layer] for layer in layers])
    for turn, excluded in enumerate(in_turn(ready, wanted)):
        for sample in samples(ready, excluded, folder / f"turn{turn}", "none"):
            found.setdefault((sample.prim.kernel, sample.prim.name), sample)
    if is_measured("depthwise3x3_s8_dsp_in_place", wanted):
        found |= measured_in_place(folder)
    return list(found.values())


def measured_in_place(folder: Path) -> dict[tuple[str, str], Sample]:
    """Depthwise layers whose results replace their images."""
    found: dict[tuple[str, str], Sample] = {}
    for index, image in enumerate(IN_PLACE):
        layer = Layer(image=image, relu=True)
        pair = model(folder, [[layer, layer]])
        for sample in samples(pair, frozenset(), folder / f"pair{index}", "overlap"):
            if sample.prim.in_place is not None:
                found[sample.prim.kernel, f"{index}{sample.prim.name}"] = sample
    return found


def fitted(matrix: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """x >= 0 with the least |matrix x - wanted|, in parts of a layer's instructions (the first column).

    Few columns, so every set of those that are not 0 is tried.
    """
    weight = 1 / matrix[:, 0]
    best, lowest = np.zeros(matrix.shape[1]), float(np.sum((wanted * weight) ** 2))
    for chosen in range(1, 1 << matrix.shape[1]):
        columns = [column for column in range(matrix.shape[1]) if chosen >> column & 1]
        found, *_ = np.linalg.lstsq(matrix[:, columns] * weight[:, None], wanted * weight, rcond=None)
        left = float(np.sum(((matrix[:, columns] @ found - wanted) * weight) ** 2))
        if (found >= 0).all() and left < lowest * (1 - 1e-9):
            best, lowest = np.zeros(matrix.shape[1]), left
            best[columns] = found
    return best


def row(kernel: str, found: Sequence[Sample]) -> dict[str, str]:
    """The line of one kernel."""
    counts = [layer_counts(each.prim) for each in found]
    matrix = np.array([count.vector for count in counts if count is not None], np.float64)
    cycles = np.median([each.cycles / (each.prim.instructions or 1) for each in found])
    reads = [
        sum(-(-c.data.nbytes // 8) * constant_reads(each.prim, c) for c in each.prim.constants)
        for each in found
    ]
    data = np.median([each.data / read for each, read in zip(found, reads, strict=True) if read] or [1.0])
    line = {"kernel": kernel, "core": BOARD.target.cpu, "cycles": f"{cycles:.3f}", "data": f"{data:.3g}"}
    for size in CACHES:
        misses = fitted(matrix, np.array([each.code[size] for each in found], np.float64))
        line[f"misses_{size}"] = " ".join(f"{miss:.3g}" for miss in misses)
    return line


def main() -> None:
    """Measure and write."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--compare", action="store_true", help="print each layer's error, write nothing")
    parser.add_argument("--kernels", nargs="+", default=(), help="these alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codegen-cycles-") as folder:
        found = measured(Path(folder), given.kernels)
    if given.compare:
        compare(found)
        return
    table = family_of(BOARD.target.cpu).cycles.recorded
    assert table is not None
    kernels = sorted({each.prim.kernel for each in found})
    lines = [row(kernel, [each for each in found if each.prim.kernel == kernel]) for kernel in kernels]
    if given.kernels:
        with table.open(newline="", encoding="utf-8") as file:
            lines += [line for line in csv.DictReader(file) if line["kernel"] not in kernels]
    lines.sort(key=itemgetter("kernel"))
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    print(f"{len(lines)} kernels, {len(found)} samples: {table.name}")


def compare(found: Sequence[Sample]) -> None:
    """Print predicted beside estimated cycles of every sample behind `PART`, constants in RAM."""
    from codegen.search.kernels.cycle_costs import CycleCosts

    costs = CycleCosts(core=BOARD.target.cpu, memory=PART, is_staged=True)
    for each in sorted(found, key=lambda sample: (sample.prim.kernel, sample.cycles)):
        seen = each.cycles + each.code[1024] * PART.wait_states
        said = costs.priced(each.prim).cycles or 0
        shape = "x".join(map(str, each.prim.let.var.type.shape))
        print(f"{each.prim.kernel:<38} {shape:<14} {seen:>9,} {said:>9,} {100 * (said / seen - 1):+6.1f} %")


if __name__ == "__main__":
    main()
