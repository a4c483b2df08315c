"""Results of jobs: states, figures, and the exit code of all together."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from codegen.api import CodegenError, ExitCode

POWER_CYCLED = "power-cycled"
"""How a recovery went, if it went as it should."""


class State(StrEnum):
    """How a job ended."""

    PASSED = "passed"
    WRONG = "wrong"
    """Outputs differ, or a measured peak is not the planned one."""
    HUNG = "hung"
    """The board or its flash tool did not answer, or not in time."""
    GARBAGE = "garbage"
    """The board answered what no firmware of this program says."""
    FAILED = "failed"
    """Anything else: the model, the toolchain, the port, a fault."""
    NO_FIT = "does not fit"
    NOT_RUN = "not run"
    """The board was given up before."""

    @property
    def is_board_trouble(self) -> bool:
        """True if the board needs its power taken away before the next job."""
        return self in (State.HUNG, State.GARBAGE)


_STATES = {
    "E602": State.HUNG,
    "E632": State.HUNG,
    "E640": State.HUNG,
    "E603": State.GARBAGE,
    "E604": State.GARBAGE,
    "E607": State.GARBAGE,
    "E610": State.GARBAGE,
    "E614": State.GARBAGE,
    "E615": State.GARBAGE,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class JobResult:
    """A model on a board of the lab. Figures that were not measured are None; sizes are bytes."""

    model: str
    board: str
    """Its name in the lab."""
    kind: str
    """The board's name in `codegen boards`."""
    state: State
    code: str = "ok"
    """Code of the first message."""
    exit_code: int = ExitCode.OK
    """Exit code of the command for this job alone."""
    message: str = ""
    seconds: float = 0.0
    power_cycled: bool = False
    """True if the board's power was taken away behind it, or its reset pulled."""
    recovery: str = ""
    """How the board was brought back, or why that failed; empty where nothing was to be done."""
    build_sha256: str | None = None
    ram_bytes: int | None = None
    """Measured peaks of all pools."""
    flash_bytes: int | None = None
    """Constants and code of the model."""
    stack_bytes: int | None = None
    """Stack of one inference."""
    instructions: int | None = None
    """On QEMU."""
    cycles: int | None = None
    """On a real board."""


def state_of(error: CodegenError) -> State:
    """State of a job that ended with `error`. Where a flash tool was content and the wrong one answers, the
    error beneath says how."""
    cause = error.__cause__
    if error.messages[0].code == "E635" and isinstance(cause, CodegenError):
        return state_of(cause)
    if error.exit_code is ExitCode.FIT:
        return State.NO_FIT
    if error.exit_code in (ExitCode.DIFFERS, ExitCode.PEAK):
        return State.WRONG
    return _STATES.get(error.messages[0].code, State.FAILED)


def exit_code_of(results: Sequence[JobResult]) -> int:
    """0 where all that fit passed; 4 where nothing fits anywhere; else the largest of the jobs that did not
    pass."""
    fitting = [result for result in results if result.state is not State.NO_FIT]
    if not fitting:
        return ExitCode.FIT if results else ExitCode.OK
    return max(result.exit_code for result in fitting)
