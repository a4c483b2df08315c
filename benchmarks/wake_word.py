"""The streaming wake word of MLPerf Tiny: instructions and cycles of a step, with and without features.

python benchmarks/wake_word.py     # the table of docs/guides/mlperf-tiny.md

The published network runs with `--window` and whole. Features are counted by its firmware, over a terminal,
in QEMU's instructions; their cycles are instructions times the core's mean. Cycles of the network are those
of the cycle model behind the flash of the STM32L4R5 (docs/cycles.md). Deterministic; a minute.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

import numpy as np

from codegen.board import load_board, load_memory_model
from codegen.driver.build import build
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.window_words import parsed_windows
from codegen.driver.options import Options
from codegen.driver.run import execute
from codegen.targets.families import cycles_per_instruction
from tests.e2e.mlperf_runner import terminal_of

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("CODEGEN_TESTDATA") or HERE.parents[1] / "shared" / "testdata")
MODEL = SHARED / "models" / "mlperf_tiny" / "str_ww_ref_model.tflite"
BOARD, CORE, PART = "mps2-an386", "cortex-m4", "stm32l4r5"
PUBLISHED_CYCLES = 2_150_000
"""Of a step with features, on the STM32L4R5 (X-CUBE-AI 10.2, submitted in September 2025)."""
STEPS, STEP = 40, 512
_INSTRUCTIONS_PER_MICROSECOND = 1000
"""Under QEMU's `-icount shift=0`."""


def options(window: str, **more: object) -> Options:
    """Those of a row."""
    windows = parsed_windows([window] if window else [])
    return Options(board=BOARD, optimize="speed", memory_model=PART, windows=windows, **more)  # type: ignore[arg-type]


def network(window: str) -> tuple[int, int]:
    """(instructions, cycles with waits) of a step of the network."""
    with tempfile.TemporaryDirectory(prefix="codegen-sww-") as folder:
        built = build([MODEL], options(window), Path(folder) / "b", emulated=True)
        case = pattern_case([tensor.type for tensor in built.models[0].program.signature.inputs], 0)
        counted = execute(built, [case]).result.cases[0].instructions
        estimate = estimate_cycles(built, case, memory=load_memory_model(PART))
        assert counted is not None and estimate.total_waits is not None, "this board counts"
        return counted, estimate.total + estimate.total_waits.total


def step_with_features(window: str) -> tuple[int, int]:
    """(instructions, bytes of the firmware) of a step from sound to decision."""
    machine = load_board(BOARD).qemu_machine
    assert machine is not None
    samples = np.random.default_rng(3).integers(-8_000, 8_000, STEPS * STEP).astype("<i2")
    with tempfile.TemporaryDirectory(prefix="codegen-sww-") as folder:
        built = build([MODEL], options(window, firmware="mlperf-tiny"), Path(folder) / "b", emulated=True)
        with terminal_of(machine, built.image.path) as (runner, _):
            runner.command("start")
            for first in range(0, len(samples), STEP):
                runner.load_long(samples[first : first + STEP].tobytes())
                runner.command("extract_uart_stream")
            said = runner.command("stop")
        [busy] = [int(line.removeprefix("m-processing-us-")) for line in said if "processing" in line]
        sizes = built.image.sizes
        return (
            busy * _INSTRUCTIONS_PER_MICROSECOND // STEPS,
            sizes.text_bytes + sizes.rodata_bytes + sizes.data_bytes,
        )


def main() -> None:
    """Print one row a way to run the network."""
    rate = cycles_per_instruction(CORE)
    assert rate is not None
    print(
        "| | instructions | est. cycles | with features: instructions | est. cycles | of published "
        "| firmware bytes |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, window in (("`--window input_1=1`", "input_1=1"), ("whole window", "")):
        count, cycles = network(window)
        total, firmware = step_with_features(window)
        with_features = cycles + round((total - count) * rate)
        share = with_features / PUBLISHED_CYCLES
        cells = (
            f"{count:,}",
            f"{cycles:,}",
            f"{total:,}",
            f"{with_features:,}",
            f"{share:.2f}",
            f"{firmware:,}",
        )
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
