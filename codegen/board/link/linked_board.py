"""A target behind the test link: QEMU, or a board on a serial port."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from codegen.board.link.exchange import PATIENT, Broken, Link, Patience
from codegen.board.link.faults import ModelFaulted, link_fault, model_fault
from codegen.board.link.linked_model import Memory, PaintedSequence, TargetModel
from codegen.board.link.protocol import VERSION, Identity, Malformed, Marks, version_of
from codegen.board.machines.qemu import running
from codegen.board.machines.reaching import reach
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.program.image import CaseResult, Image, RunRequest, RunResult, StepTrace, Trace
from codegen.progress import Progress, silent
from codegen.targets.families import family_of

RUNTIME_ABI = 1
"""CG_RUNTIME_ABI of cg_runtime.h."""

_COUNTER_TOLERANCE = 0.02
_FLASH = (
    "Flash firmware.elf of this build: `codegen build` with the same models and flags, then `codegen flash`; "
    "or `codegen run --flash`"
)


@contextmanager
def target_session(
    image: Image,
    board: Board,
    *,
    port: str | None = None,
    patience: Patience = PATIENT,
    plugin: str | None = None,
    progress: Progress = silent,
) -> Generator["LinkedTarget", None, None]:
    """A target running `image`: QEMU (with `plugin`), or the board on `port`, with it in its flash already.

    Raises CodegenError: E501 no QEMU, E601, E634, E639 port, E602 no answer, E605 QEMU, E606 counter, E607
    version, E614 no firmware of ours, E615 another build.
    """
    if port is None:
        with running(board, image.path, plugin) as qemu:
            greeted = replace(patience, greeting_seconds=0.0)
            link = Link(qemu.port, patience=greeted, progress=progress)
            yield LinkedTarget(link, image, board, runner="qemu", memory=qemu.memory, progress=progress)
        return
    if board.uart is None:
        raise ValueError(f"board {board.name} has no UART: check_can_run refuses it")
    serial = reach(board, port, board.uart.baud)
    try:
        link = Link(serial, patience=patience, progress=progress)
        yield LinkedTarget(link, image, board, runner="serial", progress=progress)
    finally:
        serial.close()


class LinkedTarget:
    """Executes requests. What it finds wrong is a CodegenError; a fault of one model leaves it usable."""

    def __init__(
        self,
        link: Link,
        image: Image,
        board: Board,
        *,
        runner: str,
        memory: Memory | None = None,
        progress: Progress = silent,
    ) -> None:
        """Identify the target; raises CodegenError E602, E606, E607, E614, E615. `memory`: a shorter way than
        the link for inputs and results. `progress` hears of cases and of steps of a trace."""
        self._progress = progress
        self._link, self._memory = link, memory
        self._image = image
        self._board = board
        self._runner = runner
        self.identity = self.identify_again()
        self._check_identity()

    def identify_again(self) -> Identity:
        """Ask the target again who it is; it then forgets the inputs it had. Raises CodegenError E602, E607,
        E614, E621."""
        return identify(self._link, self._board, self._image.symbols)

    def _told(self) -> AbstractContextManager[None]:
        return _told(self._board, self._image.symbols)

    def _check_identity(self) -> None:
        identity, board = self.identity, self._board
        check_build(identity, board, self._image.build_sha256)
        if self._runner == "qemu" and board.counter is not None:
            measured = identity.calibration_instructions / max(identity.calibration_ticks, 1)
            stated = board.counter.instructions_per_tick
            if abs(measured / stated - 1.0) > _COUNTER_TOLERANCE:
                text = (
                    f"the counter ticks every {measured:.3f} instructions, the board file says {stated:.3f}"
                )
                advice = "correct counter.instructions_per_tick in the board file, or use another QEMU"
                raise CodegenError(Message(code="E606", where=board.name, text=text, help=advice))

    def run(self, request: RunRequest) -> RunResult:
        """Every case under every paint, then once more without painting, counted; of a sequence under every
        paint.

        Raises CodegenError: E602 to E604 link, E610 firmware of another model, E611 status, E613 a reset,
        E614 no firmware of ours, E620 fault in the model, E621 in the firmware, E622 a step that cannot be
        sandboxed; ValueError for a request that does not fit the image, on QEMU, which runs that image.
        """
        with self._told():
            try:
                model = TargetModel(self._link, self._image, request, self.identity, self._memory)
            except Malformed as error:
                if self._runner == "qemu":
                    raise ValueError(f"the request does not fit the image: {error}") from error
                raise
            cases = self._sequence(model) if request.sequence else tuple(self._cases(model))
            trace = () if request.trace is Trace.NONE else tuple(self._trace(model, request.cases[0]))
        return RunResult(runner=self._runner, cases=cases, trace=trace, sequence=request.sequence)

    def _cases(self, model: TargetModel) -> Iterator[CaseResult]:
        cases = model.request.cases
        for index, inputs in enumerate(cases):
            self._progress("run", index, len(cases))
            yield self._case(model, inputs, first=index == 0)

    def _case(self, model: TargetModel, inputs: Sequence[bytes], *, first: bool) -> CaseResult:
        """Run a case under every paint, and count what an inference costs.

        The first case is counted in a run of its own. Painting may leave other bytes in a board's caches, so
        the count of the last painted run, which stands for the other cases, can differ a little.
        """
        model.keep(inputs)
        painted = [model.painted(inputs, paint) for paint in model.request.paints]
        sandboxed = model.request.sandboxed
        ticks = None if sandboxed else model.finish(inputs) if first else painted[-1].ticks
        return self._result(model, [run.outputs for run in painted], [run.marks for run in painted], ticks)

    def _sequence(self, model: TargetModel) -> tuple[CaseResult, ...]:
        """Peaks, guards and stacks are those of the whole sequence; ticks those under the last paint."""
        runs: list[PaintedSequence] = []
        for index, paint in enumerate(model.request.paints):
            self._progress("run the sequence", index, len(model.request.paints))
            runs.append(model.sequence(paint))
        marks, ticks = [run.marks for run in runs], runs[-1].ticks
        return tuple(
            self._result(model, [run.outputs[index] for run in runs], marks, ticks[index])
            for index in range(len(model.request.cases))
        )

    def _result(
        self,
        model: TargetModel,
        outputs: Sequence[tuple[bytes, ...]],
        marks: Sequence[tuple[Marks, ...]],
        ticks: int | None,
    ) -> CaseResult:
        """Combine outputs and marks of the runs under each paint into one result."""
        sandboxed = model.request.sandboxed
        ticks = None if sandboxed else ticks
        stacks = [mark.stack_peak_bytes for run in marks for mark in run]
        core1 = max((mark.core1_stack_peak_bytes for run in marks for mark in run), default=0)
        counter, instructions = self._board.counter, self._instructions(ticks)
        return CaseResult(
            outputs=outputs[0],
            paints_agree=all(run_outputs == outputs[0] for run_outputs in outputs),
            pool_peaks={name: max(run[i].peak_bytes for run in marks) for i, name in enumerate(model.pools)},
            guards_intact=all(mark.intact for run in marks for mark in run),
            stack_peak_bytes=None if sandboxed else max(stacks, default=None),
            instructions=instructions,
            counter_resolution=counter.instructions_per_tick
            if counter and instructions is not None
            else None,
            cycles=self._cycles(ticks),
            core1_stack_peak_bytes=core1 if core1 and not sandboxed else None,
        )

    def _trace(self, model: TargetModel, inputs: Sequence[bytes]) -> Iterator[StepTrace]:
        # The inputs kept there are those of the last case.
        model.keep(inputs)
        seen: dict[int, tuple[bytes | None, int]] = {}
        for step, outcome in model.traced(inputs):
            self._progress("run step by step", step + 1, model.info.steps)
            seen[step] = outcome
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


def identify(link: Link, board: Board, symbols: Mapping[str, tuple[int, int]]) -> Identity:
    """Ask the target who it is. Raises CodegenError E602, E607, E614, E621."""
    with _told(board, symbols):
        payload = link.identify()
        version = version_of(payload)
        if version != VERSION:
            raise _other_version(f"it speaks version {version:,}, this program {VERSION}")
        return Identity.parse(payload)


def check_build(identity: Identity, board: Board, build_sha256: str) -> None:
    """Raise CodegenError E607, E615 unless it is this build for this board that answers."""
    if identity.abi != RUNTIME_ABI:
        raise _other_version(f"its runtime is of version {identity.abi:,}, this program's {RUNTIME_ABI}")
    if identity.board != board.name:
        raise _other_version(f"it was built for board {identity.board}, not for {board.name}")
    if identity.build_sha256 != build_sha256:
        answering, ours = identity.build_sha256[:12], build_sha256[:12]
        text = f"another build is on the board: build {answering}, this one is {ours}"
        help_ = f"models, flags, codegen.toml, compiler and codegen itself make a build. {_FLASH}"
        raise CodegenError(Message(code="E615", where=board.name, text=text, help=help_))


@contextmanager
def _told(board: Board, symbols: Mapping[str, tuple[int, int]]) -> Generator[None]:
    """Turn faults and malformed replies of a target into errors for people."""
    try:
        yield
    except Broken as broken:
        raise link_fault(broken.fault, family_of(board.target.cpu), symbols) from broken
    except ModelFaulted as faulted:
        raise model_fault(faulted, family_of(board.target.cpu), symbols) from faulted
    except Malformed as error:
        raise CodegenError(
            Message(
                code="E614",
                where=board.name,
                text=f"what answers is no firmware of codegen, or a broken one: {error}",
                help=f"is it the right port? {_FLASH}",
            )
        ) from error


def _other_version(text: str) -> CodegenError:
    help_ = "build and load the firmware again"
    return CodegenError(
        Message(code="E607", text=f"the firmware does not fit this program: {text}", help=help_)
    )
