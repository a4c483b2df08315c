"""From sources to a run: generated files, the linked image, what is run of it, what the run measured."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductFunctions:
    """C functions between the product and what is around it."""

    entries: tuple[str, ...]
    """Entry functions, one a model, in order."""
    callbacks: tuple[str, ...] = ()
    """Functions that an application defines and the entry functions call (the test link has its own)."""
    others: tuple[str, ...] = ()
    """Functions beside them that an application calls and no entry function does."""
    core1: tuple[str, ...] = ()
    """Functions that core 1 runs when an entry function posts them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """A folder of generated files: path below the folder (with `/`) -> text.

    Runtime files are copied in too, so the folder builds alone. `c_files` and `s_files` are what
    is compiled into the firmware, `model_files` the subset that makes up the product code
    (entry function and kernels: no start-up, no test link).
    """

    files: Mapping[str, str]
    c_files: tuple[str, ...]
    model_files: tuple[str, ...]
    include_dirs: tuple[str, ...]
    linker_script: str | None
    functions: ProductFunctions
    binaries: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Files that hold no text: path -> content."""
    prefix: str
    """C prefix of the pools: `<prefix>_<pool>_pool`."""
    is_traced: bool = True
    """True if the firmware hears of every step: its models are compiled with step hooks."""
    build_sha256: str = "0" * 64
    """Build identity: SHA-256, in hexadecimal, of all that is linked (sources, headers, linker script) and of
    what compiles it. The test firmware answers it (`cg_bench_build_sha256`), report.json has it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", MappingProxyType(dict(self.files)))
        object.__setattr__(self, "binaries", MappingProxyType(dict(self.binaries)))
        missing = [path for path in (*self.c_files, *self.model_files) if path not in self.files]
        if missing:
            raise ValueError(f"sources lack {missing}")


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionCode:
    """A function of the product, linked alone."""

    name: str
    address: int
    size_bytes: int
    stack_bound_bytes: int | None
    """Static bound of its call tree; None where nothing bounds that."""
    reached: frozenset[int]
    """Addresses of the functions in its call tree, its own included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ElfSizes:
    """Bytes of an image by kind. `model_code_bytes`: the entry functions and all they call."""

    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    bss_bytes: int
    model_code_bytes: int
    stack_bound_bytes: int | None
    """Static bound of the entry function's call tree; None where the host's compiler is used."""
    core1_stack_bound_bytes: int | None = None
    """That of what runs on core 1; None where nothing does."""
    stack_bounds: Mapping[str, int] = field(default_factory=dict[str, int])
    """C function that an application calls -> static bound of its call tree; empty on the host."""
    functions: tuple[FunctionCode, ...] = ()
    """Functions that make up `model_code_bytes`, by address; empty on the host."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A linked firmware (ELF) or, for the host, a shared library; `symbols` maps name -> (address, bytes)."""

    path: Path
    sizes: ElfSizes
    symbols: Mapping[str, tuple[int, int]]
    sections: Mapping[str, tuple[int, int]]
    """Section name -> (address, bytes)."""
    build_sha256: str
    """Identity of the build, in hexadecimal; see `Sources`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseResult:
    """One input case: output bytes and what painting measured, once per paint (two paints or one)."""

    outputs: tuple[bytes, ...]
    paints_agree: bool
    """True if every paint gave the same output bytes."""
    pool_peaks: Mapping[str, int]
    """Pool -> high-water mark in bytes from the pool's base, over all paints."""
    guards_intact: bool
    stack_peak_bytes: int | None
    instructions: int | None
    """Instructions of the second inference; None where nothing counts them."""
    counter_resolution: float | None
    """Instructions per counter tick: the granularity of `instructions`."""
    cycles: int | None = None
    """Cycles of the second inference, from a real board's counter; None elsewhere."""
    core1_stack_peak_bytes: int | None = None
    """Highest use of core 1's stack; None if the firmware does not start core 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepTrace:
    """Bytes that one step left in memory (None: it has none of its own), and its cost."""

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
    """True if the cases were one sequence of inferences."""


class Trace(enum.Enum):
    """Kind of record that one more run of the first case keeps of every step."""

    NONE = "none"
    COST = "cost"
    """Instructions or cycles; nothing on the host, which counts none."""
    RESULTS = "results"
    """Cost, and the bytes that the step left. Slow where the link is slow."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchModel:
    """A model of an image, as its test firmware has to describe it."""

    number: int = 0
    """Its index in `cg_bench_models`."""
    sha256: str
    output_sizes: tuple[int, ...]
    pools: tuple[str, ...]
    step_sizes: tuple[int, ...]
    """Bytes of each step's result, 0 where it has none of its own."""
    silent_steps: frozenset[int] = frozenset()
    """They have no code: nobody hears of them, and their results are there behind the step in front of
    them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRequest:
    """A request to execute an image.

    Each case holds the bytes of every input, in order. With a `trace` the first case also runs step by step.
    Every case runs once per paint in `paints`.

    `sandboxed`: the MPU opens to each step only the buffers it uses. Nothing is counted and the stack is not
    measured then, because every step gives way to the firmware that sets the MPU up.

    `sequence`: the cases run one after another, as in an application. Memory is painted and state set to zero
    before the first one, and nothing is changed between them. Inputs `states`, by index, are left alone then.
    """

    model: BenchModel
    cases: tuple[tuple[bytes, ...], ...]
    trace: Trace = Trace.NONE
    paints: tuple[int, ...] = (0xA5, 0x5A)
    sandboxed: bool = False
    sequence: bool = False
    states: tuple[int, ...] = ()
