"""Planning every shared model, kernels of `stm32`: peak, bound, proof, processor seconds of the whole search.

python benchmarks/planning.py [--board BOARD] [--growth | --commands] [FILE.tflite ...]

FILE: these models instead of the shared ones. `--growth`: instead, what made-up chains, random-wired networks
and bare problems of growing size take, and `codegen --help`; processor seconds. `--commands`: instead, what
whole commands take with the compilers they call: `plan`, `build`, and `run` on the board `host`; without FILE
of the shared models and of two made-up ones as large as YAMNet and MCUNetV2's large one.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models import SHARED

from codegen import importers, passes
from codegen.board import load_board
from codegen.driver.build import search_choices
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.preparing import pipeline
from codegen.errors import CodegenError
from codegen.plan.place.exact import optimal
from codegen.search import search
from codegen.toolchain import LEVELS
from tests.plan import growth, mobile


def seconds_of(work: Callable[[], object]) -> str:
    """Processor seconds."""
    begun = time.process_time()
    work()
    return f"{time.process_time() - begun:.2f}"


def show_growth() -> None:
    """Print one row a made-up network or problem."""
    with tempfile.TemporaryDirectory() as folder:
        made = {
            **{
                f"chain of {n} {kind}": growth.chain(kind, n)
                for kind in ("twice", "conv")
                for n in (150, 600)
            },
            **{f"random-wired, {n} ADDs": growth.wired(n) for n in (50, 100)},
        }
        for name, data in made.items():
            path = Path(folder) / "model.tflite"
            path.write_bytes(data)
            print(f"{name:<34} {seconds_of(lambda path=path: plan_only(path, Options())):>8}", flush=True)
    problems = {
        **{f"{n} buffers of one lifetime": growth.one_lifetime(n) for n in (750, 1500)},
        **{f"{n} buffers in a staircase": growth.staircase(n) for n in (1500, 3000)},
    }
    for name, problem in problems.items():
        print(f"{name:<34} {seconds_of(lambda problem=problem: optimal(problem)):>8}", flush=True)
    subprocess.run([sys.executable, "-m", "codegen", "--help"], stdout=subprocess.DEVNULL, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{'codegen --help':<34} {used.ru_utime + used.ru_stime:>8.2f}")


def command_seconds(*words: str) -> str:
    """Processor seconds of a command and all it starts; with its exit status where that is not 0."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "codegen", *words, "-q"], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return f"{seconds:.2f}" + (f" (exit {done.returncode})" if done.returncode else "")


def show_commands(board: str, files: list[Path]) -> None:
    """Print one row a model."""
    row = "{:<44} {:>14} {:>14} {:>14}"
    print(row.format("model", "plan", "build", "run on host"))
    with tempfile.TemporaryDirectory() as folder:
        made = {"sound_int8": mobile.sound("int8"), "vision_int8": mobile.vision("int8")} if not files else {}
        paths = files or sorted((SHARED / "models").rglob("*.tflite"))
        for name, data in made.items():
            paths.append(Path(folder) / f"{name}.tflite")
            paths[-1].write_bytes(data)
        for path in paths:
            figures = (
                command_seconds("plan", str(path)),
                command_seconds("build", str(path), "--board", board, "-o", f"{folder}/{path.stem}"),
                command_seconds("run", str(path), "--board", "host"),
            )
            print(row.format(f"{path.parent.name}/{path.stem}", *figures), flush=True)


def main() -> None:
    """Print one row a model and level; models that are not supported are counted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--board", default="stm32")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    if arguments.growth:
        show_growth()
        return
    if arguments.commands:
        show_commands(arguments.board, arguments.files)
        return
    board = load_board(arguments.board)
    row = "{:<44} {:<9} {:>9} {:>9} {:>7} {:>8}"
    print(row.format("model", "optimize", "peak", "bound", "proved", "seconds"))
    slowest, unsupported = 0.0, 0
    for path in arguments.files or sorted((SHARED / "models").rglob("*.tflite")):
        for level in LEVELS:
            options = Options(optimize=level)
            try:
                module = passes.run_passes(importers.load(path), pipeline(options))
                begun = time.process_time()
                program = search(module, board, search_choices(options, emulated=False), name="model")
            except CodegenError:
                unsupported += level == "speed"
                continue
            seconds = time.process_time() - begun
            slowest = max(slowest, seconds)
            peaks = sum(program.memory.peaks.values())
            bounds = sum(program.memory.plan.lower_bounds.values())
            proved = "yes" if program.memory.plan.proved_optimal else "no"
            name = f"{path.parent.name}/{path.stem}"
            print(row.format(name, level, f"{peaks:,}", f"{bounds:,}", proved, f"{seconds:.2f}"))
    print(f"slowest {slowest:.2f} s; {unsupported} models are not supported")


if __name__ == "__main__":
    main()
