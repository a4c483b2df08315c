"""What is run of an image, and what the run measured."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseResult:
    """One input case: output bytes and what painting measured, once per paint (two paints or one)."""

    outputs: tuple[bytes, ...]
    paints_agree: bool
    """Whether every paint gave the same output bytes."""
    pool_peaks: Mapping[str, int]
    """Pool -> high-water mark in bytes from the pool's base, over all paints."""
    guards_intact: bool
    stack_peak_bytes: int | None
    instructions: int | None
    """Of the second inference; None where nothing counts them."""
    counter_resolution: float | None
    """Instructions per counter tick: the granularity of `instructions`."""
    cycles: int | None = None
    """Of the second inference, from a real board's counter; None elsewhere."""
    core1_stack_peak_bytes: int | None = None
    """Of core 1's stack; None where the firmware does not start it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepTrace:
    """What one step left in memory (None: it has no bytes of its own) and what it cost."""

    step: int
    result: bytes | None
    instructions: int | None
    cycles: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """Everything measured on a target for one model."""

    runner: str
    """`qemu`, `host` or `serial`."""
    cases: tuple[CaseResult, ...]
    trace: tuple[StepTrace, ...] = ()
    sequence: bool = False
    """Whether the cases were one sequence of inferences."""


class Trace(enum.Enum):
    """What is kept of every step of the first case, in one more run."""

    NONE = "none"
    COST = "cost"
    """Instructions or cycles; nothing on the host, which counts none."""
    RESULTS = "results"
    """Those, and the bytes that the step left: slow where the link is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRequest:
    """What to execute of an image: `model` is its index in `cg_bench_models`.

    Each case holds the bytes of every input, in order. With a `trace` the first case also runs
    step by step. Every case runs once per paint in `paints`.
    `sandboxed`: the MPU opens to each step only the buffers it uses; nothing is counted and the stack
    is not measured then, because every step gives way to the firmware that sets the MPU up.
    `step_sizes`: bytes of each step's result, 0 where it has none of its own; `silent_steps` have no
    code: nobody hears of them, and their results are there behind the step in front of them.
    `sequence`: the cases are run one after another, as an application does it: memory is painted and state
    set to zero in front of the first, nothing between them. Inputs `states`, by index, are left alone then.
    """

    model: int
    sha256: str
    cases: tuple[tuple[bytes, ...], ...]
    output_sizes: tuple[int, ...]
    pools: tuple[str, ...]
    step_sizes: tuple[int, ...]
    silent_steps: frozenset[int] = frozenset()
    trace: Trace = Trace.NONE
    paints: tuple[int, ...] = (0xA5, 0x5A)
    sandboxed: bool = False
    sequence: bool = False
    states: tuple[int, ...] = ()
