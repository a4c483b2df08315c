"""A target behind the test link: QEMU, or a board on a serial port."""

import struct
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from codegen.board.faults import link_fault, model_fault, refusal
from codegen.board.link import PATIENT, Broken, Link, Patience
from codegen.board.ports import SerialPort
from codegen.board.protocol import (
    VERSION,
    Entry,
    Event,
    Identity,
    Kind,
    Marks,
    ModelInfo,
    RunFlags,
    State,
    Table,
)
from codegen.board.qemu import running
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.plan.image import CaseResult, Image, RunRequest, RunResult, StepTrace, Trace

RUNTIME_ABI = 1
"""CG_RUNTIME_ABI of cg_runtime.h."""

_COUNTER_TOLERANCE = 0.02
_KEPT = "__cg__free_start"
"""Where the test firmware keeps inputs, in the linker script."""
_REBUILD = "build and load the firmware again"


class Memory(Protocol):
    """The target's memory, reached past the link."""

    def write(self, address: int, data: bytes) -> None:
        """Write `data` from `address` on. Raises CodegenError E601."""
        ...


@contextmanager
def target_session(
    image: Image,
    board: Board,
    *,
    port: str | None = None,
    patience: Patience = PATIENT,
    plugin: str | None = None,
) -> Generator["Target", None, None]:
    """A target running `image`: QEMU (with `plugin`), or the board on `port`, with it in its flash already.

    Raises CodegenError: E501 no QEMU, E601 port, E602 no answer, E605 QEMU, E606 counter, E607 version.
    """
    if port is None:
        with running(board, image.path, plugin) as qemu:
            greeted = replace(patience, greeting_seconds=0.0)
            link = Link(qemu.port, patience=greeted)
            yield Target(link, image, board, runner="qemu", memory=qemu.memory)
        return
    if board.uart is None:
        raise ValueError(f"board {board.name} has no UART: check_can_run refuses it")
    serial = SerialPort(port, board.uart.baud)
    try:
        yield Target(Link(serial, patience=patience), image, board, runner="serial")
    finally:
        serial.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Painted:
    outputs: tuple[bytes, ...]
    marks: tuple[Marks, ...]
    ticks: int


class Target:
    """Executes requests. What it finds wrong is a CodegenError; a fault of one model leaves it usable."""

    def __init__(
        self, link: Link, image: Image, board: Board, *, runner: str, memory: Memory | None = None
    ) -> None:
        """Identify the target; raises CodegenError E602, E606, E607. `memory`: a shorter way than the link
        for inputs that the target keeps."""
        self._link, self._memory = link, memory
        self._image = image
        self._board = board
        self._runner = runner
        self.identity = self.identify_again()
        self._check_identity()

    def identify_again(self) -> Identity:
        """What the target says of itself now; raises CodegenError E602, E607, E621."""
        try:
            return Identity.parse(self._link.identify())
        except Broken as broken:
            raise link_fault(broken.fault, self._image.symbols) from broken
        except struct.error as error:
            raise _other_version("its identity is cut short") from error

    def _check_identity(self) -> None:
        found, board = self.identity, self._board
        if (found.version, found.abi) != (VERSION, RUNTIME_ABI):
            raise _other_version(
                f"it speaks version {found.version}.{found.abi}, this program {VERSION}.{RUNTIME_ABI}"
            )
        if found.board != board.name:
            raise _other_version(f"it was built for board {found.board}, not for {board.name}")
        if self._runner == "qemu" and board.counter is not None:
            measured = found.calibration_instructions / max(found.calibration_ticks, 1)
            stated = board.counter.instructions_per_tick
            if abs(measured / stated - 1.0) > _COUNTER_TOLERANCE:
                text = (
                    f"the counter ticks every {measured:.3f} instructions, the board file says {stated:.3f}"
                )
                advice = "correct counter.instructions_per_tick in the board file, or use another QEMU"
                raise CodegenError(Message(code="E606", where=board.name, text=text, help=advice))

    def run(self, request: RunRequest) -> RunResult:
        """Every case under every paint, then once more without painting, counted.

        Raises CodegenError: E602 to E604 link, E610 firmware of another model, E611 status, E620 fault
        in the model, E621 in the firmware, E622 a step that cannot be sandboxed; ValueError for a request
        that does not fit the image.
        """
        try:
            model = _Model(self._link, self._image, request, self.identity, self._memory)
            cases = tuple(
                self._case(model, inputs, first=index == 0) for index, inputs in enumerate(request.cases)
            )
            trace = () if request.trace is Trace.NONE else tuple(self._trace(model, request.cases[0]))
        except Broken as broken:
            raise link_fault(broken.fault, self._image.symbols) from broken
        except struct.error as error:
            raise _other_version(f"a reply is cut short ({error})") from error
        return RunResult(runner=self._runner, cases=cases, trace=trace)

    def _case(self, model: "_Model", inputs: Sequence[bytes], *, first: bool) -> CaseResult:
        """All paints, then what an inference costs: of one without painting before it for the first case, of
        the last painted one for the others, which differs by what painting did to caches, on a board."""
        model.keep(inputs)
        painted = [model.painted(inputs, paint) for paint in model.request.paints]
        sandboxed = model.request.sandboxed
        ticks = None if sandboxed else model.finish(inputs) if first else painted[-1].ticks
        marks = [run.marks for run in painted]
        stacks = [each.stack_peak_bytes for run in marks for each in run]
        core1 = max((each.core1_stack_peak_bytes for run in marks for each in run), default=0)
        counter, instructions = self._board.counter, self._instructions(ticks)
        return CaseResult(
            outputs=painted[0].outputs,
            paints_agree=all(run.outputs == painted[0].outputs for run in painted),
            pool_peaks={name: max(run[i].peak_bytes for run in marks) for i, name in enumerate(model.pools)},
            guards_intact=all(each.intact for run in marks for each in run),
            stack_peak_bytes=None if sandboxed else max(stacks, default=None),
            instructions=instructions,
            counter_resolution=counter.instructions_per_tick
            if counter and instructions is not None
            else None,
            cycles=self._cycles(ticks),
            core1_stack_peak_bytes=core1 if core1 and not sandboxed else None,
        )

    def _trace(self, model: "_Model", inputs: Sequence[bytes]) -> Iterator[StepTrace]:
        # The inputs kept there are those of the last case.
        model.keep(inputs)
        seen: dict[int, tuple[bytes | None, int]] = dict(model.traced(inputs))
        for step in range(model.info.steps):
            result, ticks = seen.get(step, (None, None))
            ticks = None if model.request.sandboxed else ticks
            yield StepTrace(
                step=step, result=result, instructions=self._instructions(ticks), cycles=self._cycles(ticks)
            )

    def _instructions(self, ticks: int | None) -> int | None:
        """Known on QEMU only, where the counter runs by instructions."""
        if ticks is None or self._runner != "qemu" or self._board.counter is None:
            return None
        return round(ticks * self._board.counter.instructions_per_tick)

    def _cycles(self, ticks: int | None) -> int | None:
        """On a board, where all our counters run at the core's clock."""
        return ticks if self._runner == "serial" else None


class _Model:
    """One model of the image, as a request speaks of it."""

    def __init__(
        self, link: Link, image: Image, request: RunRequest, identity: Identity, memory: Memory | None
    ) -> None:
        self._link, self._memory = link, memory
        self._image = image
        self.request = request
        if request.model >= identity.models:
            raise ValueError(f"the image has {identity.models} models, no {request.model}")
        self.info = ModelInfo.parse(link.request(Kind.MODEL, request.model))
        if self.info.sha256 != request.sha256:
            text = f"sha256 {self.info.sha256[:12]}, asked for {request.sha256[:12]}"
            raise CodegenError(
                Message(
                    code="E610", text=f"the firmware was built from another model file: {text}", help=_REBUILD
                )
            )
        self._payload_bytes = identity.payload_bytes
        self._regions = identity.mpu_regions
        self._inputs = self._table(Table.INPUTS, self.info.inputs)
        self._outputs = self._table(Table.OUTPUTS, self.info.outputs)
        self.pools = tuple(entry.name for entry in self._table(Table.POOLS, self.info.pools))
        self._check_request()

    def _table(self, table: Table, count: int) -> tuple[Entry, ...]:
        return tuple(self._entry(table, index) for index in range(count))

    def _entry(self, table: Table, index: int) -> Entry:
        return Entry.parse(self._link.request(Kind.ENTRY, self.request.model, table, index))

    def _check_request(self) -> None:
        request = self.request
        sizes = tuple(entry.size_bytes for entry in self._outputs)
        if sizes != tuple(request.output_sizes):
            raise ValueError(f"the image's outputs have {sizes} bytes, not {request.output_sizes}")
        if set(self.pools) != set(request.pools):
            raise ValueError(f"the image's pools are {self.pools}, not {request.pools}")
        sizes = tuple(entry.size_bytes for entry in self._inputs)
        for case in request.cases:
            if tuple(map(len, case)) != sizes:
                raise ValueError(f"the image's inputs have {sizes} bytes, not {tuple(map(len, case))}")

    def keep(self, inputs: Sequence[bytes]) -> None:
        """Send the inputs once for several inferences, where the target has memory to keep them."""
        if self.info.kept_bytes and self._memory:
            address, _ = self._image.symbols[_KEPT]
            self._memory.write(address, b"".join(inputs))
        elif self.info.kept_bytes:
            for offset, chunk in _chunks(b"".join(inputs), self._payload_bytes - 8):
                self._link.request(Kind.KEEP, self.request.model, offset, data=chunk)

    def painted(self, inputs: Sequence[bytes], paint: int) -> _Painted:
        """One inference on painted memory: outputs, marks, ticks of the counter."""
        ticks = self.finish(inputs, paint)
        marks = tuple(
            Marks.parse(self._link.request(Kind.MARKS, self.request.model, index, paint))
            for index in range(self.info.pools)
        )
        outputs = tuple(self._read(Table.OUTPUTS, i, each.size_bytes) for i, each in enumerate(self._outputs))
        return _Painted(outputs=outputs, marks=marks, ticks=ticks)

    def finish(self, inputs: Sequence[bytes], paint: int | None = None) -> int:
        """Paint if so asked, write the inputs and run to the end: ticks of the counter."""
        event = self._start(inputs, RunFlags.PLAIN, paint)
        if event.state is not State.FINISHED:
            raise _other_version("it paused in a run that was not to be traced")
        return event.ticks

    def traced(self, inputs: Sequence[bytes]) -> Iterator[tuple[int, tuple[bytes | None, int]]]:
        """Run step by step: (step, (result if asked for, ticks)); steps without code are missing."""
        event = self._start(inputs, RunFlags.TRACED, self.request.paints[0])
        while event.state is State.PAUSED:
            if event.step is None:
                raise _other_version("it paused before the first step")
            entry = self._entry(Table.STEPS, event.step)
            is_read = entry.present and self.request.trace is Trace.RESULTS
            result = self._read(Table.STEPS, event.step, entry.size_bytes) if is_read else None
            yield event.step, (result, event.ticks)
            event = self._checked(Event.parse(self._link.request(Kind.CONTINUE)))

    def _start(self, inputs: Sequence[bytes], flags: RunFlags, paint: int | None) -> Event:
        """Paint, write, run: one request where the target keeps the inputs."""
        if self.request.sandboxed:
            flags |= RunFlags.SANDBOXED
        if self.info.kept_bytes:
            flags |= RunFlags.KEPT | (RunFlags.PLAIN if paint is None else RunFlags.PAINTED)
        else:
            if paint is not None:
                self._link.request(Kind.PAINT, self.request.model, paint)
            self._write(inputs)
        return self._checked(Event.parse(self._link.request(Kind.RUN, self.request.model, flags, paint or 0)))

    def _write(self, inputs: Sequence[bytes]) -> None:
        for index, data in enumerate(inputs):
            for offset, chunk in _chunks(data, self._payload_bytes - 12):
                self._link.request(Kind.WRITE, self.request.model, index, offset, data=chunk)

    def _checked(self, event: Event) -> Event:
        if event.fault is not None:
            raise model_fault(event.fault, self._place(event.step), self._image.symbols)
        if event.state is State.REFUSED:
            raise refusal(event.status, self._place(event.step), self._regions)
        if event.state is State.FINISHED and event.status:
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
        parts: list[bytes] = []
        for offset in range(0, size_bytes, self._payload_bytes):
            count = min(self._payload_bytes, size_bytes - offset)
            part = self._link.request(Kind.READ, self.request.model, table, index, offset, count)
            if len(part) != count:
                raise _other_version(f"it sent {len(part)} bytes for {count}")
            parts.append(part)
        return b"".join(parts)


def _chunks(data: bytes, size_bytes: int) -> Iterator[tuple[int, bytes]]:
    for offset in range(0, len(data), size_bytes):
        yield offset, data[offset : offset + size_bytes]


def _other_version(text: str) -> CodegenError:
    return CodegenError(
        Message(code="E607", text=f"the firmware does not fit this program: {text}", help=_REBUILD)
    )
