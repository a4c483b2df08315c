"""One model on a target: its inputs, runs and results, as the test link tells them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from codegen.board.link.exchange import Link
from codegen.board.link.faults import ModelFaulted, refusal
from codegen.board.link.protocol import (
    Entry,
    Event,
    Identity,
    Kind,
    Malformed,
    Marks,
    ModelInfo,
    RunFlags,
    RunState,
    Table,
)
from codegen.errors import CodegenError, Message
from codegen.program.image import Image, RunRequest, Trace

_KEPT = "__cg__free_start"
"""Symbol of the linker script at which the test firmware keeps inputs."""
_REBUILD = "build and load the firmware again"
_SHORT_BYTES = 128
"""A step's result that has no more goes over the link, even where there is a shorter way: that one asks first
where it lies."""


class Memory(Protocol):
    """The target's memory, reached past the link."""

    def write(self, address: int, data: bytes) -> None:
        """Write `data` from `address` on. Raises CodegenError E601."""
        ...

    def read(self, address: int, count: int) -> bytes:
        """`count` bytes from `address` on. Raises CodegenError E601."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Painted:
    """Outputs and marks of an inference on painted memory."""

    outputs: tuple[bytes, ...]
    marks: tuple[Marks, ...]
    """One a pool."""
    ticks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PaintedSequence:
    """Outputs and ticks of each inference of a sequence, and marks of all together."""

    outputs: tuple[tuple[bytes, ...], ...]
    marks: tuple[Marks, ...]
    ticks: tuple[int, ...]


class TargetModel:
    """One model of the image, as a request speaks of it."""

    def __init__(
        self, link: Link, image: Image, request: RunRequest, identity: Identity, memory: Memory | None
    ) -> None:
        """Raises CodegenError E610; Malformed if what the target has of it is not what the request says."""
        self._link, self._memory = link, memory
        self._image = image
        self.request = request
        asked = request.model
        if asked.number >= identity.models:
            raise Malformed(f"IDENTIFY: it has {identity.models:,} models, no {asked.number}")
        self.info = ModelInfo.parse(self._ask(Kind.MODEL))
        if self.info.sha256 != asked.sha256:
            text = f"sha256 {self.info.sha256[:12]}, asked for {asked.sha256[:12]}"
            raise CodegenError(
                Message(
                    code="E610", text=f"the firmware was built from another model file: {text}", help=_REBUILD
                )
            )
        self._payload_bytes = identity.payload_bytes
        self._regions = identity.mpu_regions
        self._check_counts()
        self._inputs = self._table(Table.INPUTS, self.info.inputs)
        self._outputs = self._table(Table.OUTPUTS, self.info.outputs)
        self._pools = self._table(Table.POOLS, self.info.pools)
        self.pools = tuple(entry.name for entry in self._pools)
        self._check_request()

    def _ask(self, kind: Kind, *arguments: int, data: bytes = b"") -> bytes:
        """The reply to a request that is about this model."""
        return self._link.request(kind, self.request.model.number, *arguments, data=data)

    def _table(self, table: Table, count: int) -> tuple[Entry, ...]:
        return tuple(self._entry(table, index) for index in range(count))

    def _entry(self, table: Table, index: int) -> Entry:
        return Entry.parse(self._ask(Kind.ENTRY, table, index))

    def _check_counts(self) -> None:
        """Before each row of the tables is asked for."""
        info, request = self.info, self.request
        inputs = len(request.cases[0]) if request.cases else info.inputs
        for what, told, ours in (
            ("inputs", info.inputs, inputs),
            ("outputs", info.outputs, len(request.model.output_sizes)),
            ("pools", info.pools, len(request.model.pools)),
            ("steps", info.steps, len(request.model.step_sizes)),
        ):
            if told != ours:
                raise Malformed(f"MODEL: it has {told:,} {what}, not {ours:,}")

    def _check_request(self) -> None:
        asked = self.request.model
        sizes = tuple(entry.size_bytes for entry in self._outputs)
        if sizes != tuple(asked.output_sizes):
            raise Malformed(f"ENTRY: outputs have {_listed(sizes)} bytes, not {_listed(asked.output_sizes)}")
        if set(self.pools) != set(asked.pools):
            raise Malformed(f"ENTRY: pools are {_listed(self.pools)}, not {_listed(asked.pools)}")
        sizes = tuple(entry.size_bytes for entry in self._inputs)
        for case in self.request.cases:
            ours = tuple(map(len, case))
            if ours != sizes:
                raise Malformed(f"ENTRY: inputs have {_listed(sizes)} bytes, not {_listed(ours)}")
        if self.info.kept_bytes not in (0, sum(sizes)):
            raise Malformed(f"MODEL: it keeps {self.info.kept_bytes:,} bytes of inputs of {sum(sizes):,}")

    def keep(self, inputs: Sequence[bytes]) -> None:
        """Send the inputs once for several inferences, where the target has memory to keep them."""
        if self.info.kept_bytes and self._memory:
            address, _ = self._image.symbols[_KEPT]
            self._memory.write(address, b"".join(inputs))
            self._ask(Kind.KEEP, 0)  # it has not seen them come
        elif self.info.kept_bytes:
            for offset, chunk in _chunks(b"".join(inputs), self._payload_bytes - 8):
                self._ask(Kind.KEEP, offset, data=chunk)

    def painted(self, inputs: Sequence[bytes], paint: int) -> Painted:
        """One inference on painted memory: outputs, marks, ticks of the counter."""
        ticks = self.finish(inputs, paint)
        return Painted(marks=self._marks(paint), outputs=self._read_outputs(), ticks=ticks)

    def sequence(self, paint: int) -> PaintedSequence:
        """All cases, one after another, on memory that was painted once; state begins at zero."""
        self._ask(Kind.PAINT, paint)
        outputs: list[tuple[bytes, ...]] = []
        ticks: list[int] = []
        for index, inputs in enumerate(self.request.cases):
            self._write(inputs, self.request.states)
            event = self._run(RunFlags.NEXT if index else RunFlags.FIRST)
            ticks.append(self._finished(event).ticks)
            outputs.append(self._read_outputs())
        return PaintedSequence(outputs=tuple(outputs), marks=self._marks(paint), ticks=tuple(ticks))

    def _marks(self, paint: int) -> tuple[Marks, ...]:
        return tuple(
            Marks.parse(self._ask(Kind.MARKS, index, paint), pool.size_bytes)
            for index, pool in enumerate(self._pools)
        )

    def _read_outputs(self) -> tuple[bytes, ...]:
        return tuple(self._read(Table.OUTPUTS, i, entry.size_bytes) for i, entry in enumerate(self._outputs))

    def finish(self, inputs: Sequence[bytes], paint: int | None = None) -> int:
        """Paint if so asked, write the inputs and run to the end: ticks of the counter."""
        return self._finished(self._start(inputs, RunFlags.PLAIN, paint)).ticks

    def _finished(self, event: Event) -> Event:
        if event.state is not RunState.FINISHED:
            raise Malformed("RUN: it paused in a run that was not to be traced")
        return event

    def traced(self, inputs: Sequence[bytes]) -> Iterator[tuple[int, tuple[bytes | None, int]]]:
        """Run step by step: (step, (result if asked for, ticks)). The target pauses behind steps with code:
        the others take no ticks, and those in front of the first pause nobody can look at."""
        event, last = self._start(inputs, RunFlags.TRACED, self.request.paints[0]), -1
        for silent in self._silent_behind(last):
            last = silent
            yield last, (None, 0)
        while event.state is RunState.PAUSED:
            if event.step is None or event.step <= last:  # else it might pause for ever
                raise Malformed(f"RUN: it paused at step {event.step}, behind step {last}")
            last = event.step
            yield last, (self._result(last), event.ticks)
            for silent in self._silent_behind(last):
                last = silent
                yield last, (self._result(last), 0)
            event = self._checked(self._link.request(Kind.CONTINUE))

    def _silent_behind(self, step: int) -> Sequence[int]:
        """The steps without code between `step` and the next one that has any."""
        behind = range(step + 1, self.info.steps)
        return tuple(takewhile(self.request.model.silent_steps.__contains__, behind))

    def _result(self, step: int) -> bytes | None:
        """Read the result of a step, if it is asked for and has bytes of its own."""
        size = self.request.model.step_sizes[step]
        return self._read(Table.STEPS, step, size) if size and self.request.trace is Trace.RESULTS else None

    def _start(self, inputs: Sequence[bytes], flags: RunFlags, paint: int | None) -> Event:
        """Paint, write, run: one request where the target keeps the inputs."""
        if self.info.kept_bytes:
            flags |= RunFlags.KEPT | (RunFlags.PLAIN if paint is None else RunFlags.PAINTED)
        else:
            if paint is not None:
                self._ask(Kind.PAINT, paint)
            self._write(inputs)
        return self._run(flags, paint or 0)

    def _run(self, flags: RunFlags, paint: int = 0) -> Event:
        if self.request.sandboxed:
            flags |= RunFlags.SANDBOXED
        return self._checked(self._ask(Kind.RUN, flags, paint))

    def _write(self, inputs: Sequence[bytes], but: Collection[int] = ()) -> None:
        """Write all inputs `but` some, by their indexes."""
        written = ((index, data) for index, data in enumerate(inputs) if index not in but)
        for index, data in written:
            if self._memory:
                self._memory.write(self._inputs[index].address, data)
                self._ask(Kind.WRITE, index, 0)  # it has not seen them come
                continue
            for offset, chunk in _chunks(data, self._payload_bytes - 12):
                self._ask(Kind.WRITE, index, offset, data=chunk)

    def _checked(self, reply: bytes) -> Event:
        event = Event.parse(reply, self.info.steps)
        if event.fault is not None:
            raise ModelFaulted(event.fault, self._place(event.step))
        if event.state is RunState.REFUSED:
            raise refusal(event.status, self._place(event.step), self._regions)
        if event.state is RunState.FINISHED and event.status:
            raise CodegenError(
                Message(
                    code="E611",
                    text=f"the entry function returned status {event.status} (cg_status in cg_runtime.h)",
                    help="generated test code passes valid pointers: report this",
                )
            )
        return event

    def _place(self, step: int | None) -> str:
        if step is None:
            return "before the first step"
        return f"step {step} {self._entry(Table.STEPS, step).name}"

    def _read(self, table: Table, index: int, size_bytes: int) -> bytes:
        if self._memory and (table is Table.OUTPUTS or size_bytes > _SHORT_BYTES):
            entry = self._outputs[index] if table is Table.OUTPUTS else self._entry(table, index)
            return self._memory.read(entry.address, size_bytes)
        parts: list[bytes] = []
        for offset in range(0, size_bytes, self._payload_bytes):
            count = min(self._payload_bytes, size_bytes - offset)
            part = self._ask(Kind.READ, table, index, offset, count)
            if len(part) != count:
                raise Malformed(f"READ: it sent {len(part):,} bytes for {count:,}")
            parts.append(part)
        return b"".join(parts)


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))


def _chunks(data: bytes, size_bytes: int) -> Iterator[tuple[int, bytes]]:
    for offset in range(0, len(data), size_bytes):
        yield offset, data[offset : offset + size_bytes]
