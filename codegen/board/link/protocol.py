"""Kinds, tables, flags and replies of the test link: the same numbers as runtime_c/include/cg_link.h.

What a target says is checked here against a schema: every field has bounds, every reply its length. Whatever
answers on a port may be no firmware of ours, or one that is broken.
"""

import enum
import struct
from dataclasses import dataclass

from codegen.targets.core_family import FAULT_WORDS

VERSION = 5
NO_STEP = 0xFFFF_FFFF


class Kind(enum.IntEnum):
    """Kinds of requests."""

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
    """Tables of a model that ENTRY and READ refer to."""

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
    FIRST = 16
    NEXT = 32


class RunState(enum.IntEnum):
    """Progress of a run on the board, as an event tells it."""

    FINISHED = 0
    PAUSED = 1
    FAULTED = 2
    REFUSED = 3
    """Answer to a sandboxed run; `Event.status` is a Refusal."""


class Refusal(enum.IntEnum):
    """Reason why a step cannot run with memory protection around its bytes."""

    NO_REGION = 1
    INEXACT = 2


class Status(enum.IntEnum):
    """Status of a reply."""

    OK = 0
    UNKNOWN = 1
    ARGUMENT = 2
    NOT_NOW = 3
    FAULT = 4
    OTHER_SESSION = 5


def words(*values: int) -> bytes:
    """Numbers as a payload."""
    return struct.pack(f"<{len(values)}I", *values)


_MOST_MODELS = 1024
_PAYLOADS = (64, 1 << 16)
"""Payload bytes of a frame, least and most: with too few no input gets through."""
_MOST_NAME_BYTES = 1 << 10
_SHOWN_CHARACTERS = 80
_DIGEST_BYTES = 32
_MOST_TICKS = (1 << 64) - 1
_MOST_STACK_BYTES = 1 << 24


class Malformed(Exception):
    """A reply that no firmware of ours sends: which field of which reply, what it holds, what it may hold."""


def escaped(data: bytes) -> str:
    """A target's text for people: nothing of it reaches a terminal but printable ASCII."""
    shown = data[:_SHOWN_CHARACTERS]
    text = "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in shown)
    return text + ("..." if len(data) > len(shown) else "")


def version_of(payload: bytes) -> int:
    """Version of the protocol: the first word that IDENTIFY answers, in every version; 0 without one."""
    return int.from_bytes(payload[:4], "little") if len(payload) >= 4 else 0


class _ReplyReader:
    """Takes a reply apart, field by field; raises Malformed."""

    def __init__(self, reply: str, payload: bytes) -> None:
        self._reply, self._left = reply, payload

    def number(self, name: str, low: int = 0, high: int = 0xFFFF_FFFF, size_bytes: int = 4) -> int:
        """The next number, from `low` to `high`."""
        value = int.from_bytes(self.bytes_of(name, size_bytes), "little")
        if not low <= value <= high:
            raise Malformed(f"{self._reply}: {name} is {value:,}, not {low:,} to {high:,}")
        return value

    def bytes_of(self, name: str, size_bytes: int) -> bytes:
        """The next bytes."""
        if len(self._left) < size_bytes:
            raise Malformed(f"{self._reply}: it ends within {name}")
        data, self._left = self._left[:size_bytes], self._left[size_bytes:]
        return data

    def name(self, what: str) -> str:
        """The rest, as text."""
        data, self._left = self._left, b""
        if not 1 <= len(data) <= _MOST_NAME_BYTES:
            raise Malformed(f"{self._reply}: {what} has {len(data):,} bytes, not 1 to {_MOST_NAME_BYTES:,}")
        return escaped(data)

    def end(self) -> None:
        """Nothing may be left."""
        if self._left:
            raise Malformed(f"{self._reply}: {len(self._left):,} bytes more than it has fields for")


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A target's answer to IDENTIFY."""

    version: int
    abi: int
    models: int
    payload_bytes: int
    counter_bits: int
    calibration_ticks: int
    calibration_instructions: int
    mpu_regions: int
    free_link_stack_bytes: int
    build_sha256: str
    """Hash of the build on the target: `build.sha256` in report.json."""
    board: str

    @classmethod
    def parse(cls, payload: bytes) -> "Identity":
        """Parse the answer of a target of this VERSION. Raises Malformed."""
        reader = _ReplyReader("IDENTIFY", payload)
        return cls(
            version=reader.number("version"),
            abi=reader.number("ABI"),
            models=reader.number("models", 1, _MOST_MODELS),
            payload_bytes=reader.number("payload bytes", *_PAYLOADS),
            counter_bits=reader.number("counter bits", 1, 64),
            calibration_ticks=reader.number("calibration ticks"),
            calibration_instructions=reader.number("calibration instructions"),
            mpu_regions=reader.number("MPU regions", 0, 0xFF),
            free_link_stack_bytes=reader.number("free link stack", 0, 1 << 20),
            build_sha256=reader.bytes_of("build hash", _DIGEST_BYTES).hex(),
            board=reader.name("the board's name"),
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
        """Raises Malformed. How many of each there may be, the request knows."""
        reader = _ReplyReader("MODEL", payload)
        inputs, outputs, pools, steps = (
            reader.number(name, 0, 0xFFFF) for name in ("inputs", "outputs", "pools", "steps")
        )
        kept = reader.number("kept bytes")
        digest = reader.bytes_of("sha256", _DIGEST_BYTES).hex()
        reader.end()
        return cls(inputs=inputs, outputs=outputs, pools=pools, steps=steps, kept_bytes=kept, sha256=digest)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One row of a table: sizes in bytes, where its bytes are (0: it has none in memory), its name."""

    size_bytes: int
    peak_bytes: int
    address: int
    name: str

    @classmethod
    def parse(cls, payload: bytes) -> "Entry":
        """Raises Malformed."""
        reader = _ReplyReader("ENTRY", payload)
        size, peak, address = (reader.number(name) for name in ("size", "peak", "address"))
        return cls(size_bytes=size, peak_bytes=peak, address=address, name=reader.name("the name"))


FaultRecord = tuple[int, ...]
"""Words of a fault, as the core wrote them: its family decodes them, the link only carries them."""


def fault_record(payload: bytes) -> FaultRecord:
    """The record that is all of `payload`. Raises Malformed."""
    reader = _ReplyReader("a fault", payload)
    record = tuple(reader.number(f"word {index}") for index in range(FAULT_WORDS))
    reader.end()
    return record


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Why a run gave way: `ticks` counts since it was started or continued."""

    state: RunState
    status: int
    step: int | None
    ticks: int
    fault: FaultRecord | None

    @classmethod
    def parse(cls, payload: bytes, steps: int) -> "Event":
        """Parse an event of a model with so many steps. Raises Malformed."""
        reader = _ReplyReader("RUN", payload)
        state, status = RunState(reader.number("state", 0, len(RunState) - 1)), reader.number("status")
        step, ticks = reader.number("step"), reader.number("ticks", 0, _MOST_TICKS, 8)
        if step != NO_STEP and step >= steps:
            raise Malformed(f"RUN: it is at step {step:,}, the model has {steps:,} steps")
        rest = reader.bytes_of("the fault", 4 * FAULT_WORDS if state is RunState.FAULTED else 0)
        reader.end()
        return cls(
            state=state,
            status=status,
            step=None if step == NO_STEP else step,
            ticks=ticks,
            fault=fault_record(rest) if rest else None,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """Marks that a run under one paint left in one pool and on the stacks."""

    peak_bytes: int
    intact: bool
    stack_peak_bytes: int
    core1_stack_peak_bytes: int
    """0 where the firmware does not start core 1."""

    @classmethod
    def parse(cls, payload: bytes, pool_bytes: int) -> "Marks":
        """Parse the marks of a pool of so many bytes. Raises Malformed."""
        reader = _ReplyReader("MARKS", payload)
        marks = cls(
            peak_bytes=reader.number("peak", 0, pool_bytes),
            intact=bool(reader.number("intact", 0, 1)),
            stack_peak_bytes=reader.number("stack peak", 0, _MOST_STACK_BYTES),
            core1_stack_peak_bytes=reader.number("core 1's stack peak", 0, _MOST_STACK_BYTES),
        )
        reader.end()
        return marks
