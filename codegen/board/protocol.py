"""Kinds, tables, flags and replies of the test link: the same numbers as runtime_c/include/cg_link.h."""

import enum
import struct
from dataclasses import dataclass

VERSION = 3
NO_STEP = 0xFFFF_FFFF


class Kind(enum.IntEnum):
    """What a request asks for."""

    IDENTIFY = 1
    MODEL = 2
    ENTRY = 3
    PAINT = 4
    WRITE = 5
    KEEP = 6
    RUN = 7
    CONTINUE = 8
    READ = 9
    MARKS = 10
    COUNTER = 11
    GARBLED = 0xFF
    """Only as a reply: a frame arrived damaged."""


class Table(enum.IntEnum):
    """What ENTRY and READ speak of."""

    INPUTS = 0
    OUTPUTS = 1
    POOLS = 2
    STEPS = 3


class RunFlags(enum.IntFlag):
    """Options of RUN."""

    PLAIN = 0
    TRACED = 1
    KEPT = 2
    PAINTED = 4
    SANDBOXED = 8


class State(enum.IntEnum):
    """How far a run is."""

    FINISHED = 0
    PAUSED = 1
    FAULTED = 2
    REFUSED = 3
    """Of a sandboxed run; `Event.status` is a Refusal."""


class Refusal(enum.IntEnum):
    """Why a step cannot be sandboxed."""

    NO_REGION = 1
    INEXACT = 2


class Status(enum.IntEnum):
    """Status of a reply."""

    OK = 0
    UNKNOWN = 1
    ARGUMENT = 2
    NOT_NOW = 3
    FAULT = 4


def words(*values: int) -> bytes:
    """Numbers as a payload."""
    return struct.pack(f"<{len(values)}I", *values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What a target says of itself."""

    version: int
    abi: int
    models: int
    payload_bytes: int
    counter_bits: int
    calibration_ticks: int
    calibration_instructions: int
    mpu_regions: int
    free_link_stack_bytes: int
    board: str

    @classmethod
    def parse(cls, payload: bytes) -> "Identity":
        """Raises struct.error for a payload that is too short."""
        values = struct.unpack_from("<9I", payload)
        return cls(
            version=values[0],
            abi=values[1],
            models=values[2],
            payload_bytes=values[3],
            counter_bits=values[4],
            calibration_ticks=values[5],
            calibration_instructions=values[6],
            mpu_regions=values[7],
            free_link_stack_bytes=values[8],
            board=payload[36:].decode("ascii", "replace"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelInfo:
    """Counts and identity of one model. `kept_bytes`: bytes of inputs the target can keep, 0 or all."""

    inputs: int
    outputs: int
    pools: int
    steps: int
    kept_bytes: int
    sha256: str

    @classmethod
    def parse(cls, payload: bytes) -> "ModelInfo":
        """Raises struct.error for a payload that is too short."""
        inputs, outputs, pools, steps, kept, digest = struct.unpack_from("<5I32s", payload)
        return cls(
            inputs=inputs, outputs=outputs, pools=pools, steps=steps, kept_bytes=kept, sha256=digest.hex()
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One row of a table: sizes in bytes, whether it has bytes in memory, its name."""

    size_bytes: int
    peak_bytes: int
    present: bool
    name: str

    @classmethod
    def parse(cls, payload: bytes) -> "Entry":
        """Raises struct.error for a payload that is too short."""
        size, peak, present = struct.unpack_from("<3I", payload)
        return cls(
            size_bytes=size,
            peak_bytes=peak,
            present=bool(present),
            name=payload[12:].decode("ascii", "replace"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Registers of a fault; `exception` is the number of the core's exception."""

    exception: int
    pc: int
    lr: int
    psr: int
    sp: int
    cfsr: int
    hfsr: int
    mmfar: int
    bfar: int

    @classmethod
    def parse(cls, payload: bytes) -> "Fault":
        """Raises struct.error for a payload that is too short."""
        exception, pc, lr, psr, sp, cfsr, hfsr, mmfar, bfar = struct.unpack_from("<9I", payload)
        return cls(
            exception=exception, pc=pc, lr=lr, psr=psr, sp=sp, cfsr=cfsr, hfsr=hfsr, mmfar=mmfar, bfar=bfar
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Why a run gave way: `ticks` counts since it was started or continued."""

    state: State
    status: int
    step: int | None
    ticks: int
    fault: Fault | None

    @classmethod
    def parse(cls, payload: bytes) -> "Event":
        """Raises struct.error for a payload that is too short, ValueError for an unknown state."""
        state, status, step, ticks = struct.unpack_from("<3IQ", payload)
        return cls(
            state=State(state),
            status=status,
            step=None if step == NO_STEP else step,
            ticks=ticks,
            fault=Fault.parse(payload[20:]) if state == State.FAULTED else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """What one pool and the stacks look like after a run under a paint."""

    peak_bytes: int
    intact: bool
    stack_peak_bytes: int
    core1_stack_peak_bytes: int
    """0 where the firmware does not start core 1."""

    @classmethod
    def parse(cls, payload: bytes) -> "Marks":
        """Raises struct.error for a payload that is too short."""
        peak, intact, stack, core1 = struct.unpack_from("<4I", payload)
        return cls(peak_bytes=peak, intact=bool(intact), stack_peak_bytes=stack, core1_stack_peak_bytes=core1)
