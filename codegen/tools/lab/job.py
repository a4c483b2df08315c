"""One job: a model's build, made once for all boards of a kind, flashed, run and compared."""

import itertools
import os
import signal
import subprocess
import threading
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from codegen.api import (
    ELF,
    FLASH_TOOLS,
    Board,
    Built,
    Case,
    CodegenError,
    FlashTool,
    Message,
    Messages,
    Options,
    Progress,
    RunConditions,
    SerialLine,
    Trace,
    all_complaints,
    array,
    baud_of,
    build_models,
    check_flashed,
    check_linked,
    execute_all,
    fitting,
    flash,
    load_board,
    made_up_case,
    patience_of,
    report_document,
    silent,
    to_json,
    with_variables,
    write_file,
)
from codegen.report_file import Report, typed
from codegen.tools.lab.inventory import LabBoard
from codegen.tools.lab.labgrid_targets import LabgridTarget, target_of
from codegen.tools.lab.results import POWER_CYCLED, JobResult, State

Arrays = tuple[np.ndarray, ...]
POWER_SECONDS = 60.0
"""A power command may take so long."""


class Bench:
    """Builds and runs on the boards of a lab. Boards use it from threads of their own; builds are made one
    after the other, while boards run."""

    def __init__(self, folder: Path, options: Options) -> None:
        """`folder`: builds and reports go there."""
        self._folder, self._options = folder, options
        self._builds: dict[tuple[Path, Board, bool], Built | CodegenError] = {}
        self._building = threading.Lock()
        self._models, self._kinds = _FolderNames(), _FolderNames()

    def built(self, model: Path, place: LabBoard, progress: Progress = silent) -> Built:
        """The build for a board of this kind. Raises CodegenError as `build` does, each time."""
        board, emulated = load_board(place.board), place.port is None
        key = (model, board, emulated)
        with self._building:
            if key not in self._builds:
                progress("build")
                kind = self._kinds.of(board, board.name)
                folder = self._folder / "builds" / (f"{kind}-qemu" if emulated else kind)
                target = folder / self._models.of(model, model.stem)
                try:
                    self._builds[key] = build_models([model], self._of(place), target, emulated=emulated)
                except CodegenError as error:
                    self._builds[key] = error
            build = self._builds[key]
        if isinstance(build, CodegenError):
            raise CodegenError(build.messages)
        return build

    def run(self, model: Path, place: LabBoard, progress: Progress = silent) -> JobResult:
        """Build, flash, run, compare. Raises CodegenError for what does not hold; its report stays."""
        built = self._ready(model, place, progress)
        progress("run")
        document, problems, _ = measured(built, _made_up(built, self._options.seed), place, self._of(place))
        name = self._models.of(model, model.stem)
        report = self._folder / "reports" / place.name / f"{name}.json"
        report.parent.mkdir(parents=True, exist_ok=True)
        write_file(report, to_json(document).encode())
        if problems:
            raise CodegenError(problems)
        return _passed(model, place, typed(document))

    def answer(
        self, model: Path, place: LabBoard, inputs: Arrays | None, expected: Arrays | None
    ) -> tuple[Arrays, Report]:
        """Outputs and report of one inference, with these inputs, or made-up ones. Raises CodegenError for
        what does not hold, E222 for arrays that do not fit."""
        built = self._ready(model, place)
        [[case]] = _made_up(built, self._options.seed)
        program, messages = built.models[0].program, Messages()
        if inputs is not None:
            case = with_variables(program, Case(name="0", inputs=inputs))
        case = replace(case, expected=case.expected if expected is None else expected)
        signature = program.signature
        types = [[tensor.type for tensor in part] for part in (signature.inputs, signature.outputs)]
        case = fitting(case, types[0], types[1], messages)
        messages.raise_if_any()
        document, problems, outputs = measured(built, [[case]], place, self._of(place))
        if problems:
            raise CodegenError(problems)
        arrays = (array(data, tensor.type) for data, tensor in zip(outputs, signature.outputs, strict=True))
        return tuple(arrays), typed(document)

    def _ready(self, model: Path, place: LabBoard, progress: Progress = silent) -> Built:
        """Built and on the board."""
        built = self.built(model, place, progress)
        check_linked(built)
        return prepared(built, place, progress)

    def _of(self, place: LabBoard) -> Options:
        return replace(self._options, board=place.board)

    def recover(self, place: LabBoard) -> str:
        """Bring a board back: by its power, else by its reset; how that went, in words."""
        return recover(place)


class _FolderNames:
    """Names of folders, one for each thing: models of one file name, boards of one name, get numbers."""

    def __init__(self) -> None:
        self._names: dict[Hashable, str] = {}
        self._naming = threading.Lock()

    def of(self, thing: Hashable, name: str) -> str:
        """The folder of `thing`, called `name` unless something else is."""
        with self._naming:
            if thing not in self._names:
                taken = set(self._names.values())
                numbered = (f"{name}-{number}" for number in itertools.count(2))
                free = (folder for folder in itertools.chain([name], numbered) if folder not in taken)
                self._names[thing] = next(free)
            return self._names[thing]


def prepared(built: Built, place: LabBoard, progress: Progress = silent) -> Built:
    """The build, flashed on the board, its board with the rate of the lab. Raises CodegenError E63x."""
    if place.port is None:
        return built
    progress("flash")
    target = target_of(place.port)
    if target is not None:
        target.load(built.folder / ELF)
        rate, wait = baud_of(built.board, place.baud), float(place.wait_seconds)
        check_flashed(built.board, place.port, rate, built.image.build_sha256, seconds=wait)
        return built
    flash(
        built.board,
        built.folder / ELF,
        built.image.build_sha256,
        tool_of(place),
        line=SerialLine(port=place.port, baud=place.baud),
    )
    if place.baud is None or built.board.uart is None:
        return built
    return replace(built, board=replace(built.board, uart=replace(built.board.uart, baud=place.baud)))


def measured(
    built: Built, cases: Sequence[Sequence[Case]], place: LabBoard, options: Options
) -> tuple[dict[str, object], list[Message], tuple[bytes, ...]]:
    """report.json of a run, everything that does not hold, and the outputs of the first case. Raises
    CodegenError E6xx; E640 where it takes longer than the board's limit."""
    patience = replace(patience_of(options), session_seconds=float(place.seconds))
    runs = execute_all(
        built,
        cases,
        RunConditions(port=place.port, trace=Trace.COST, sandboxed=options.sandbox, patience=patience),
    )
    complaints = all_complaints(built, cases, runs)
    return report_document(built, options, runs), complaints, runs[0].result.cases[0].outputs


def _made_up(built: Built, seed: int) -> list[list[Case]]:
    """A case of each model, as `run` has it without --input."""
    return [[made_up_case(one.program, seed)] for one in built.models]


def tool_of(place: LabBoard) -> FlashTool:
    """How this board is flashed."""
    return FlashTool(
        name=place.tool,
        probe=place.probe,
        timeout_seconds=float(place.seconds),
        wait_seconds=float(place.wait_seconds),
    )


def recover(place: LabBoard) -> str:
    """Take the board's power away, or reset it by its flash tool where the lab says no power command; how
    that went, in words."""
    if place.port is None:
        return "QEMU starts anew for each job"
    target = target_of(place.port)
    if target is not None:
        return _cycled(target)
    words = place.power_words
    if words:
        return _power_cycled(words)
    board = load_board(place.board)
    if board.flash_tool is not None and board.flash_tool not in FLASH_TOOLS and place.tool is None:
        return "no power_cycle in the lab's file, and its own flash_tool cannot reset it"
    try:
        tool = tool_of(place)
        tool.work(tool.resetting(board), loading=False)
    except CodegenError as error:
        return f"no power_cycle in the lab's file, and the reset failed: {error.messages[0].text}"
    return "reset: there is no power_cycle in the lab's file"


def _cycled(target: LabgridTarget) -> str:
    try:
        target.cycle()
    except CodegenError as error:
        return error.messages[0].text
    return POWER_CYCLED


def _power_cycled(words: Sequence[str]) -> str:
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return f"the power command {words[0]} cannot be run: {error.strerror}"
    try:
        status = child.wait(POWER_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return f"the power command {words[0]} did not end within {POWER_SECONDS:g} s and was ended"
    return f"the power command {words[0]} failed (status {status})" if status else POWER_CYCLED


def _passed(model: Path, place: LabBoard, report: Report) -> JobResult:
    run, elf, constants = report.run, report.elf, report.constants
    both = None if elf is None or constants is None else elf.model_code_bytes + constants.total_bytes
    return JobResult(
        model=str(model),
        board=place.name,
        kind=load_board(place.board).name,
        state=State.PASSED,
        build_sha256=report.build.sha256 if report.build else None,
        ram_bytes=None if run is None else sum(pool.peak_bytes for pool in run.pools),
        flash_bytes=both,
        stack_bytes=None if run is None else run.stack_peak_bytes,
        instructions=None if run is None else run.instructions,
        cycles=None if run is None else run.cycles,
    )
