"""report.json as values with types: fields are called as its keys, which docs/report.md explains.

Sizes are bytes. A part that a document lacks is None; long lists of figures stay mappings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from codegen.report_product import Product


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """Which build it is."""

    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """The network."""

    name: str
    sha256: str
    format: str
    macs: int
    macs_executed: int
    without_elements: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Board:
    """Board of a plan."""

    name: str
    requested: str
    cpu: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """A pool of the plan."""

    name: str
    region: str
    section: str
    alignment_bytes: int
    peak_bytes: int
    size_bytes: int
    workspace_bytes: int | None = None
    lower_bound_bytes: int
    access_cost: int | None = None
    limit_bytes: int | None = None
    separate_bytes: int | None = None
    base_bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """Bytes of another buffer that one is written over."""

    id: str
    bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer:
    """A buffer: where it lies, in which steps, what it lies over and what it rests on."""

    id: str
    values: tuple[str, ...]
    kind: str
    pool: str
    offset: int
    size_bytes: int
    alignment_bytes: int
    start: int
    stop: int
    first_step: int | None
    last_step: int | None
    over: tuple[Shared, ...]
    rests_on: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The memory plan."""

    planner: str
    solver: str
    proved_optimal: bool
    peak_bytes: int
    lower_bound_bytes: int
    access_cost: int | None = None
    access_cost_bound: int | None = None
    reproducible: bool
    core1_steps: tuple[int, ...] | None = None
    certificate: Mapping[str, Any]
    pools: tuple[Pool, ...]
    buffers: tuple[Buffer, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantMember:
    """A piece of data in a pool of constants, and the steps that read it."""

    name: str
    offset: int
    bytes: int
    users: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPool:
    """A pool of constants."""

    name: str
    region: str | None
    section: str | None
    size_bytes: int
    unique_bytes: int | None = None
    access_cost: int | None = None
    members: tuple[ConstantMember, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Constants:
    """Weights, biases, tables."""

    total_bytes: int
    merged_bytes: int
    mode: str | None = None
    pools: tuple[ConstantPool, ...]
    staged: Mapping[str, Any] | None = None
    compressed: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeFunction:
    """A C function of the product: its machine code, the static bound of its call tree."""

    name: str
    bytes: int
    stack_bound_bytes: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Elf:
    """The linked firmware."""

    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    bss_bytes: int
    model_code_bytes: int
    stack_bound_bytes: int | None
    core1_stack_bound_bytes: int | None
    functions: tuple[CodeFunction, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A layer of a step: shapes of its arguments and result, its window in (rows, columns)."""

    name: str
    op: str
    kernel: str
    arguments: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]
    dtype: str
    window: tuple[int, int] | None
    stride: tuple[int, int] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """Bytes of RAM and flash that a build takes, and those of its board."""

    ram_bytes: int | None
    board_ram_bytes: int
    pool_limit_bytes: int | None = None
    flash_bytes: int | None
    board_flash_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Time:
    """Time and energy of an inference at the board's rated clock; `counted`: which count both follow from."""

    milliseconds: float
    clock_hz: int
    counted: str
    cycles: int | None = None
    microjoules: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A step of the entry function."""

    step: int
    op: str
    name: str
    kernel: str
    core: int
    macs: int
    workspace_bytes: int
    constant_bytes: int
    layers: tuple[Layer, ...] = ()
    origin: str | None = None
    start: int | None = None
    stop: int | None = None
    code_bytes: int | None = None
    stack_bound_bytes: int | None = None
    instructions_predicted: int | None = None
    instructions: int | None = None
    cycles: int | None = None
    cycles_estimate: int | None = None
    flash_waits_estimate: Mapping[str, Any] | None = None
    microseconds: float | None = None
    microjoules: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """An output over all cases of a run."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str
    matches: bool
    max_abs_difference: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredPool:
    """Measured figures of a pool."""

    name: str
    peak_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """Measured figures of a run."""

    runner: str
    cases: int
    sequence: bool
    planning_seconds: float
    reference: Mapping[str, Any] | None = None
    outputs: tuple[Output, ...]
    pools: tuple[MeasuredPool, ...]
    guards_intact: bool
    stack_peak_bytes: int | None = None
    core1_stack_peak_bytes: int | None = None
    instructions: int | None = None
    instructions_resolution: float | None = None
    cycles_estimate: int | None = None
    memory_model: str | None = None
    flash_waits_estimate: Mapping[str, Any] | None = None
    cycles: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint:
    """A plan of the curve RAM against instructions; `extra_percent`: beyond the fewest."""

    peak_bytes: int
    instructions: int
    extra_percent: float
    macs_executed: int
    extra_macs: int
    proved_optimal: bool
    blocks: tuple[Mapping[str, Any], ...]
    again: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildWarning:
    """Why a build lacks something."""

    code: str
    where: str | None
    text: str
    help: str | None
    places: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """All of it; of several models each has the parts of its own in `models`."""

    schema: int | None = None
    summary: str | None = None
    build: Build | None = None
    model: Model | None = None
    board: Board | None = None
    options: str | None = None
    plan: Plan | None = None
    device_copies: Mapping[str, Any] | None = None
    constants: Constants | None = None
    reduction: Mapping[str, Any] | None = None
    rounding: Mapping[str, Any] | None = None
    npu: Mapping[str, Any] | None = None
    elf: Elf | None = None
    steps: tuple[Step, ...] | None = None
    instructions_predicted: int | None = None
    steps_not_predicted: int | None = None
    run: Run | None = None
    totals: Totals | None = None
    time: Time | None = None
    pareto: tuple[CurvePoint, ...] | None = None
    product: Product | None = None
    warnings: tuple[BuildWarning, ...] | None = None
    models: tuple["Report", ...] | None = None


def typed(document: Mapping[str, object]) -> Report:
    """The document with types. Raises msgspec.ValidationError if it is no report: a bug."""
    return msgspec.convert(document, Report)
