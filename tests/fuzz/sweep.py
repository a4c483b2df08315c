"""The whole sweep: kernel by kernel, each on a board of every core, several processes."""

import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from codegen.board import load_board
from codegen.kernels import supported_ops
from codegen.kernels.base.c_kernel import PortableKernel
from codegen.kernels.base.registry import Kernel
from codegen.toolchain import LEVELS
from tests.fuzz.reference import Name, Reference, read
from tests.fuzz.rounded import WITHOUT_ENGINE, kernels_of_kind
from tests.fuzz.running import Runner
from tests.fuzz.trials import trials
from tests.kernels.arm_objects import IN_TURN, NEARLY_ALIKE

EACH = ("microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547")
"""A board of each core: Cortex-M0, M3, M4, M7, M33, M55."""
NO_DSP = "mps2-an521"
"""A Cortex-M33 without the DSP extension: portable kernels find there what they find on the other one."""
RISCV, RISCV_VECTORS = "qemu-virt-rv32", "qemu-virt-rv32v"
EVERYWHERE = (*EACH, RISCV)
"""Boards that portable kernels run on; the suite runs them on Arm's only."""
BOARDS = (*EACH, NO_DSP, RISCV, RISCV_VECTORS)

_DSP = ("mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547")
_ONLY_ON: Mapping[str, Sequence[str]] = {
    "v6m": ("microbit",),  # made for ARMv6-M; cores of ARMv7-M and later have better ones and refuse them
    "v7m": ("mps2-an385", NO_DSP),  # for cores with long products and no DSP extension; the others refuse
    "dsp": _DSP,  # SMLAD
    "fpu": _DSP[:-1],  # single precision; a core with Helium for floats takes the next instead
    "mve": _DSP[-1:],  # Helium
    "rv32": (RISCV, RISCV_VECTORS),  # the second one has Zba and Zbb too
    "zve32x": (RISCV_VECTORS,),
}
"""Word in a kernel's name -> the boards it can run on. Kernels without such a word run on `EVERYWHERE`."""
_TOGETHER = 8
"""Groups of kernels in one program, in the suite."""
NO_CODE = frozenset({"reshape_view"})
"""Kernels of views, which have nothing to run."""


def boards_of(kernel: str) -> tuple[str, ...]:
    """The boards whose cores can run `kernel` (its name), by what its instructions need."""
    if kernel in NO_CODE:
        return ()
    for word, boards in _ONLY_ON.items():
        if word in kernel.split("_"):
            return tuple(boards)
    return EVERYWHERE


def boards_in_turn(kernels: Sequence[Kernel]) -> tuple[str, ...]:
    """`boards_of` kernels that are `alike`, of the cores with nearly the same code one: each has its turn.
    RISC-V runs its own kernels."""
    boards = boards_of(kernels[0].name)
    boards = EACH if boards == EVERYWHERE else boards
    alike_ = [board for board in boards if board in NEARLY_ALIKE]
    kept = alike_[_turn(kernels[0].name) % len(alike_)] if alike_ else None
    return tuple(board for board in boards if board == kept or board not in NEARLY_ALIKE)


def _turn(kernel: str) -> int:
    """A number of a kernel that stays the same when others come."""
    return zlib.crc32(kernel.encode())


def every_kernel() -> list[Kernel]:
    """All that are registered for operators of files, and for those that are rounded as ONNX does."""
    return [kernel for kind in (*supported_ops(), *WITHOUT_ENGINE) for kernel in kernels_of_kind(kind)]


def alike(kernels: Sequence[Kernel]) -> list[tuple[Kernel, ...]]:
    """`kernels` in groups that are one C function with parameters bound by one class, whatever operator."""
    groups: dict[tuple[type[Kernel], str], list[Kernel]] = {}
    for kernel in kernels:
        is_portable = isinstance(kernel, PortableKernel)
        function = kernel.stem if is_portable else getattr(kernel, "symbol", kernel.name)
        groups.setdefault((type(kernel), function), []).append(kernel)
    return [tuple(group) for group in groups.values()]


def together(kernels: Sequence[Kernel]) -> list[tuple[tuple[Kernel, ...], ...]]:
    """Groups of `alike` whose calls go into the same programs, up to `_TOGETHER`: on the same boards.
    Compiling calls, linking and the start of QEMU take a third of a kernel's time."""
    found: dict[object, list[tuple[Kernel, ...]]] = {}
    for group in alike(kernels):
        boards = boards_in_turn(group)
        found.setdefault((boards_of(group[0].name), boards), []).append(group)
    return [
        tuple(groups[first : first + _TOGETHER])
        for groups in found.values()
        for first in range(0, len(groups), _TOGETHER)
    ]


def share_of(kernel: Kernel, layers: int) -> int:
    """How many of `layers` a kernel gets: those that are `alike` share them."""
    [group] = [group for group in alike(every_kernel()) if kernel in group]
    return -(-layers // len(group))


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """`layers` layers from number `seed` on of each group of kernels (`alike`) and board.

    `live`: put each layer to its reference engine, also where the engine's answer is recorded. `is_whole`:
    on each board C is compiled at each of `levels`, for as many layers each; else only where a kernel runs on
    one board; of others each file has one of two levels on a board.
    """

    layers: int
    seed: int = 0
    live: bool = False
    levels: tuple[str, ...] = tuple(dict.fromkeys((LEVELS["speed"], LEVELS["size"])))
    is_whole: bool = False

    def levels_on(self, boards: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Levels by board."""
        is_whole = self.is_whole or len(boards) == 1
        return dict.fromkeys(boards, self.levels if is_whole else (IN_TURN,))


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What was run: layers by (kernel, board), and what went wrong, as lines by (kernel, board)."""

    counts: Mapping[tuple[str, str], int]
    wrong: Mapping[tuple[str, str], Sequence[str]]
    too_large: int
    """Layers that their board has no room for; others were drawn for them."""
    compared: int
    """Layers whose NumPy result was compared with a reference engine's, each once a kernel."""
    unasked: int
    """Layers that could not be: no answer is recorded and no engine is installed."""
    unlike: Sequence[str]
    """Differences between NumPy and the engines, as lines."""

    def lacking(self, layers: int, boards: Sequence[str] = BOARDS) -> list[str]:
        """Pairs of these kernels and boards that had fewer than `layers` layers, as lines."""
        names = {kernel for kernel, _ in self.counts}
        shares = {kernel.name: share_of(kernel, layers) for kernel in every_kernel() if kernel.name in names}
        return [
            f"{kernel} on {board}: {self.counts.get((kernel, board), 0)} of {shares[kernel]} layers"
            for kernel in sorted(names)
            for board in boards_of(kernel)
            if board in boards and self.counts.get((kernel, board), 0) < shares[kernel]
        ]

    def lines(self, boards: Sequence[str] = BOARDS) -> Iterator[str]:
        """A table of layers, kernels by cores (-: the core cannot run it), the failures, a summary."""
        yield "".join([f"{'layers':38}", *(f"{_core(board):>9}" for board in boards), "  failures"])
        for kernel in sorted({kernel for kernel, _ in self.counts}):
            cells = [
                str(self.counts.get((kernel, board), 0)) if board in boards_of(kernel) else "-"
                for board in boards
            ]
            failed = sum(len(self.wrong.get((kernel, board), ())) for board in boards)
            yield "".join([f"{kernel:38}", *(f"{cell:>9}" for cell in cells), f"{failed:>10}"])
        failures = [text for texts in self.wrong.values() for text in texts]
        yield from failures[:50]
        yield (
            f"{sum(self.counts.values())} layers, {self.too_large} more too large for their board, "
            f"{len(failures)} failures"
        )
        yield from self.unlike
        unasked = f", {self.unasked} have none recorded and no engine is installed" if self.unasked else ""
        yield (
            f"{self.compared} times NumPy's result was compared with a reference engine's{unasked}, "
            f"{len(self.unlike)} differences"
        )


def _core(board: str) -> str:
    """As a column's head."""
    return load_board(board).target.cpu.replace("cortex-", "") + (" -dsp" if board == NO_DSP else "")


def fuzz(kernels: Sequence[Kernel], boards: Sequence[str], task: Task, *, jobs: int = 2) -> Outcome:
    """Kernel by kernel, `jobs` at a time; progress goes to standard error."""
    start = time.monotonic()
    counts: dict[tuple[str, str], int] = {}
    wrong: dict[tuple[str, str], Sequence[str]] = {}
    too_large = compared = unasked = 0
    unlike: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-objects-") as objects,
        ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")) as pool,
    ):
        tasks = {
            pool.submit(fuzz_together, [kernel.name for kernel in group], boards, task, Path(objects)): group
            for group in alike(kernels)
        }
        for done in as_completed(tasks):
            found = done.result()
            counts |= found.counts
            wrong |= found.wrong
            too_large += found.too_large
            compared += found.compared
            unasked += found.unasked
            unlike += found.unlike
            seconds, layers = time.monotonic() - start, sum(counts.values())
            sys.stderr.write(
                f"{seconds:6.0f} s {layers:8} layers, {' '.join(k.name for k in tasks[done])} done\n"
            )
    return Outcome(
        counts=counts, wrong=wrong, too_large=too_large, compared=compared, unasked=unasked, unlike=unlike
    )


def fuzz_together(names: Sequence[str], boards: Sequence[str], task: Task, objects: Path) -> Outcome:
    """Whole groups of `alike`, by name, on those of `boards` that can run them, the same for all; counts of
    all of these are there, and compiled objects stay in `objects`."""
    kernels = [kernel for kernel in every_kernel() if kernel.name in names]
    loaded = {board: _loaded(board) for board in boards_of(names[0]) if board in boards}
    levels = task.levels_on(tuple(loaded))
    counts: Counter[tuple[str, str]] = Counter()
    reference = Reference(read(), live=task.live)
    with Runner(levels=levels, layers=task.layers, objects=objects) as runner:
        for kernel in kernels:
            done: Counter[str] = Counter()
            layers = share_of(kernel, task.layers)
            for trial in trials(kernel, list(loaded.values()), layers=layers, seed=task.seed, counts=done):
                done[trial.board] += runner.add(trial, loaded[trial.board])
                if trial.kind in WITHOUT_ENGINE:  # TFLite's engines do not have them
                    continue
                reference.check(
                    Name(op=kernel.op, dtype=trial.dtype.value, seed=trial.seed), trial.layer, trial.expected
                )
            counts.update({(kernel.name, board): done[board] for board in loaded})
        unlike = reference.finish()
        failures = runner.finish()
        too_large = runner.too_large
    wrong: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        wrong.setdefault((failure.trial.kernel, failure.trial.board), []).append(str(failure))
    return Outcome(
        counts=counts,
        wrong=wrong,
        too_large=too_large,
        compared=reference.compared,
        unasked=reference.unasked,
        unlike=unlike,
    )


_loaded = cache(load_board)
