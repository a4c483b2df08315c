"""Every shared int8 model on every core it fits: instructions, flash, RAM, stack, beside the peers' figures.

python benchmarks/models.py                     # the table, and results/models.csv written anew
python benchmarks/models.py --check             # nothing written: exit 1 if a figure is worse than recorded
python benchmarks/models.py --boards mps2-an386 --only kws_ref_model --optimize speed

Each row is written as it comes: a stop (Ctrl-C) loses nothing. A terminal shows counts on stderr.
All figures are deterministic: instructions of the second inference under QEMU's `-icount shift=0` (in steps
of the counter's resolution), bytes from the ELF and from painted pools. Outputs must equal the goldens.
"""

import argparse
import csv
import itertools
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen.board import load_board
from codegen.command.console import progress
from codegen.driver.build import Built, build
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.report.single import workspace_bytes
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError, ExitCode
from codegen.program.interface import IoTensor
from codegen.targets.families import family_of
from codegen.toolchain import Optimize, gcc

HERE = Path(__file__).parent
RECORDED = HERE / "results" / "models.csv"
PEERS = HERE / "peers.toml"
SHARED = Path(os.environ.get("CODEGEN_TESTDATA") or HERE.parents[1] / "shared" / "testdata")

BOARDS = (
    "mps2-an386",
    "mps3-an547",
    "mps2-an385",
    "mps2-an505",
    "mps2-an500",
    "microbit",
    "qemu-virt-rv32",
    "qemu-virt-rv32v",
)
MODELS = (
    "mlperf_tiny/kws_ref_model",
    "mlperf_tiny/vww_96_int8",
    "mlperf_tiny/pretrainedResnet_quant",
    "mlperf_tiny/pretrainedResnet_large_int8",
    "mlperf_tiny/ad01_int8",
    "mlperf_tiny/str_ww_ref_model",
    "tflm/person_detect",
    "tflm/micro_speech_quantized",
    "tinyengine/vww",
)
LEVELS: tuple[Optimize, ...] = ("speed", "balanced", "size")
EDGED = frozenset({"tinyengine/vww"})
"""Models whose float inputs and outputs are taken away (`--io-types int8`)."""
TOLERANCE = 1.01
"""A figure may be this much worse than the recorded one: 1 %."""
CHECKED = ("instructions", "cycles_estimate", "code_bytes", "constant_bytes", "pool_bytes", "stack_bytes")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """Figures of one model on one board. Bytes; `compiler` is gcc's version."""

    board: str
    core: str
    model: str
    optimize: str
    compiler: str
    instructions: int
    cycles_estimate: int
    macs: int
    macs_executed: int
    code_bytes: int
    constant_bytes: int
    pool_bytes: int
    workspace_bytes: int
    stack_bytes: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a recorded figure must share to be compared with."""
        return self.board, self.model, self.optimize, self.compiler

    @property
    def flash_bytes(self) -> int:
        """Code and constants."""
        return self.code_bytes + self.constant_bytes

    @property
    def ram_bytes(self) -> int:
        """Pools and the stack of one inference; the product has no other data."""
        return self.pool_bytes + self.stack_bytes


def compiler_of(board: str) -> str:
    """The version of the compiler for a board's core."""
    facts = family_of(load_board(board).target.cpu).compiler
    return gcc.Compiler(prefix=facts.prefix, options=()).version()


def measure(
    board: str, key: str, optimize: Optimize, compiler: str, *, with_cycles: bool = True
) -> Row | None:
    """Build, run and check one model; None if it does not fit. Raises CodegenError for all else.

    Without cycles, which take a second run, their estimate is 0.
    """
    io_types = "int8" if key in EDGED else "file"
    options = Options(board=board, optimize=optimize, io_types=io_types)
    with tempfile.TemporaryDirectory(prefix="codegen-bench-") as folder:
        try:
            path = SHARED / "models" / f"{key}.tflite"
            built = build([path], options, Path(folder) / "build", emulated=True)
        except CodegenError as error:
            if error.exit_code is ExitCode.FIT:
                return None
            raise
        return _row(built, key, optimize, compiler, with_cycles=with_cycles)


def _row(built: Built, key: str, optimize: str, compiler: str, *, with_cycles: bool) -> Row:
    planned = built.models[0]
    cases = [_case(built, key)]
    measured = execute(built, cases)
    cpu = built.board.target.cpu
    # Of a core without published timings there is no estimate.
    with_cycles = with_cycles and cpu in family_of(cpu).cycles.counters()
    wrong = complaints(planned, cases, measured, built.image.sizes.stack_bound_bytes)
    if wrong:
        raise CodegenError(wrong)
    case = measured.result.cases[0]
    return Row(
        board=built.board.name,
        core=cpu,
        model=key.rsplit("/", 1)[1],
        optimize=optimize,
        compiler=compiler,
        instructions=case.instructions or 0,
        cycles_estimate=estimate_cycles(built, cases[0]).total if with_cycles else 0,
        macs=planned.macs,
        macs_executed=sum(prim.macs for prim in planned.program.steps.prim_funcs),
        code_bytes=built.image.sizes.model_code_bytes,
        constant_bytes=sum(pool.size_bytes for pool in planned.program.constants.pools),
        pool_bytes=sum(case.pool_peaks.values()),
        workspace_bytes=sum(workspace_bytes(planned.program, pool) for pool in case.pool_peaks),
        stack_bytes=case.stack_peak_bytes or 0,
    )


def _case(built: Built, key: str) -> Case:
    """Golden case b: random inputs, outputs of an independent engine."""
    with np.load(SHARED / "goldens" / f"{key}.npz") as arrays:
        inputs, expected = (arrays["b_x0"],), (arrays["b_y0"],)
    program = built.models[0].program
    if key in EDGED:
        inputs = tuple(map(_quantise, inputs, program.signature.inputs))
        expected = tuple(map(_quantise, expected, program.signature.outputs))
    return Case(name="b", inputs=inputs, expected=expected)


def _quantise(data: np.ndarray, tensor: IoTensor) -> np.ndarray:
    """TFLite's QUANTIZE: float32 division, half away from zero, clamp."""
    scaled = data.astype(np.float32) / np.float32(tensor.type.scale)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    return np.clip(rounded + tensor.type.zero_point, -128, 127).astype(np.int8)


def read(path: Path) -> dict[tuple[str, str, str, str], Row]:
    """Recorded rows; empty if there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = [_parsed(line) for line in csv.DictReader(file)]
    return {row.key: row for row in rows}


def _parsed(line: Mapping[str, str]) -> Row:
    words = {field.name: line[field.name] for field in fields(Row)}
    return Row(**{name: int(word) if word.isdigit() else word for name, word in words.items()})  # pyright: ignore


def write(rows: Iterable[Row], path: Path) -> None:
    """Rows as CSV, sorted, so that a change in a figure is a change of one line."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(row) for row in sorted(rows, key=lambda row: row.key))


def worse(row: Row, recorded: Row) -> Iterator[str]:
    """Sentences on figures that are more than `TOLERANCE` above the recorded ones."""
    for name in CHECKED:
        now, before = getattr(row, name), getattr(recorded, name)
        if now > before * TOLERANCE:
            yield f"{row.board} {row.model} {row.optimize}: {name} {now:,}, recorded {before:,}"


def show(rows: Sequence[Row]) -> None:
    """The table, and what the peers need."""
    peers = tomllib.loads(PEERS.read_text(encoding="utf-8"))["engine"]
    line = "{:<11} {:<24} {:<9} {:>12} {:>7} {:>12} {:>7} {:>9} {:>8} {:>6}  {}"
    figures = ("instructions", "per MAC", "cycles", "code", "constants", "RAM", "stack")
    print(line.format("core", "model", "optimize", *figures, "peers"))
    for row in rows:
        beside = "; ".join(_beside(row, peer) for peer in peers if _beside(row, peer))
        words = (
            f"{row.instructions:,}",
            f"{row.instructions / row.macs_executed:.2f}",  # as `codegen run` prints
            f"{row.cycles_estimate:,}",
            f"{row.code_bytes:,}",
            f"{row.constant_bytes:,}",
            f"{row.ram_bytes:,}",
            f"{row.stack_bytes:,}",
        )
        print(line.format(row.core.removeprefix("cortex-"), row.model, row.optimize, *words, beside))


def _beside(row: Row, peer: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    words = {"instructions": row.instructions, "flash_bytes": row.flash_bytes, "ram_bytes": row.ram_bytes}
    found = [
        f"{name.removesuffix('_bytes')} {theirs:,} (ours x{ours / theirs:.2f})"
        for name, ours in words.items()
        if (theirs := peer.get(name, {}).get(row.core, {}).get(row.model))
    ]
    return f"{peer['name']}: {', '.join(found)}" if found else ""


def measured(
    work: Sequence[tuple[str, str, Optimize]], compilers: Mapping[str, str], jobs: int
) -> Iterator[Row]:
    """Rows of all that fits, as they are done. Work that has not begun is dropped when the caller stops."""
    pool = ThreadPoolExecutor(jobs)
    try:
        with progress(quiet=False) as tell:
            tell("models measured", 0, len(work))
            futures = [pool.submit(measure, *each, compilers[each[0]]) for each in work]
            for done, future in enumerate(as_completed(futures), 1):
                row = future.result()
                tell("models measured", done, len(work))
                if row is not None:
                    yield row
    finally:
        pool.shutdown(cancel_futures=True)


def main() -> int:
    """Measure, print, and write or check."""
    layout = argparse.RawDescriptionHelpFormatter
    names = [key.rsplit("/", 1)[1] for key in MODELS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--boards", nargs="+", default=BOARDS)
    parser.add_argument("--only", nargs="+", default=names, choices=names, metavar="MODEL")
    parser.add_argument("--optimize", nargs="+", default=LEVELS, choices=LEVELS)
    parser.add_argument("--check", action="store_true", help="compare with results/models.csv, write nothing")
    parser.add_argument("--jobs", type=int, default=2)
    wanted = parser.parse_args()
    boards: list[str] = [load_board(board).name for board in wanted.boards]
    keys = [key for key in MODELS if key.rsplit("/", 1)[1] in wanted.only]
    levels: list[Optimize] = wanted.optimize
    work = list(itertools.product(boards, keys, levels))
    compilers = {board: compiler_of(board) for board in boards}
    recorded = read(RECORDED)
    rows: dict[tuple[str, str, str, str], Row] = {}
    for row in measured(work, compilers, wanted.jobs):
        rows[row.key] = row
        if not wanted.check:
            write({**recorded, **rows}.values(), RECORDED)
    show([rows[key] for key in sorted(rows)])
    known = [key for key in sorted(rows) if key in recorded]
    sentences = [text for key in known for text in worse(rows[key], recorded[key])]
    for text in sentences:
        print(f"worse: {text}", file=sys.stderr)
    return 1 if wanted.check and sentences else 0


if __name__ == "__main__":
    sys.exit(main())
