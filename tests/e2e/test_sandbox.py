"""On boards with an Armv8-M MPU every step can run with nothing of the pools open but its own buffers.
A debug build on the host poisons every pool byte that no buffer of the current step owns.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codegen import board as boards
from codegen import emit, search, toolchain
from codegen.board import MemoryFault, run_poisoned
from codegen.board.link.linked_board import LinkedTarget, target_session
from codegen.driver.build import plan_model
from codegen.driver.checks.image_checks import sandbox_board
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute, request
from codegen.errors import CodegenError, ExitCode, Message
from codegen.ir import Var
from codegen.joint import together
from codegen.problem.problem import Buffer, Placement
from codegen.program.image import RunResult
from codegen.program.program import Program
from tests.e2e.models import ALL_MODELS, OF_EACH_KIND, build_model, golden_cases
from tests.emit.variants import moved, resized
from tests.networks import model_path

BOARDS = ("mps2-an505", "mps3-an547")
GRANULE_BYTES = 32
"""Ranges of the MPU of Armv8-M begin and end at its multiples."""
DEFAULT_MODELS = (
    "ds_cnn",
    "mobilenet_v1",
    "resnet8",
)
IN_SUITE = {("ds_cnn", "mps3-an547")}
_RARER = {True: pytest.mark.thorough, False: pytest.mark.long}
RESNET = "resnet8"
"""It has residual blocks: buffers that live through steps that must not touch them."""


def _pairs() -> list[object]:
    return [
        pytest.param(
            key,
            board,
            marks=() if (key, board) in IN_SUITE else _RARER[key in DEFAULT_MODELS],
            id=f"{key}-{board}",
        )
        for board in BOARDS
        for key in ALL_MODELS
    ]


@pytest.mark.qemu
@pytest.mark.parametrize(("key", "board"), _pairs())
def test_every_step_stays_within_its_buffers(
    key: str, board: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    try:
        built = build_model(key, Options(board=board, sandbox=True), tmp_path / "build")
    except CodegenError as error:
        assert error.exit_code == 4, error
        pytest.skip(f"does not fit {board}: {error.messages[0].where}")
    cases = golden_cases(key)[: 6 if request.config.getoption("--long") else 1]
    measured = execute(built, cases, RunConditions(sandboxed=True))
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    assert all(case.instructions is None for case in measured.result.cases)


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """C code of one program with the ownership table of another, and the step that cannot go well."""

    code: Program
    table: Program
    step: int


def _program(board: str) -> Program:
    options = Options(board=board, sandbox=True)
    return plan_model(model_path(RESNET), sandbox_board(boards.load_board(board)), options).program


def _largest(program: Program) -> Buffer:
    """The largest buffer that a step after the first makes."""
    made = [buffer for buffer in program.memory.problem.buffers if buffer.start > 0]
    return max(made, key=lambda buffer: (buffer.size_bytes, -buffer.start))


def _step_at(program: Program, time: int) -> int:
    return next(step for step, (start, stop) in enumerate(program.steps.times) if start <= time < stop)


def _shorter(program: Program) -> Wrong:
    """By the table the largest buffer dies before its last reader."""
    victim = _largest(program)
    last = _step_at(program, victim.stop - 1)
    dead = replace(victim, stop=program.steps.times[last][0])
    buffers = tuple(dead if b.id == victim.id else b for b in program.memory.problem.buffers)
    table = resized(program, buffers=buffers)
    return Wrong(code=program, table=table, step=last)


def _moved(program: Program, distance_bytes: int) -> Wrong:
    """By the table the largest buffer lies higher: its first bytes are nobody's."""
    victim = _largest(program)
    place = program.memory.plan.placements[victim.id]
    table = moved(program, {victim.id: replace(place, offset=place.offset + distance_bytes)})
    return Wrong(code=program, table=table, step=_step_at(program, victim.start))


def _in_pieces(program: Program) -> Wrong:
    """By the table step 0 has, beside its own buffers, 20 of 32 bytes with gaps between them."""
    pool = program.memory.plan.placements[_largest(program).id].pool
    end = max(place.offset for place in program.memory.plan.placements.values()) + 65_536
    blank = Buffer(
        id="", size_bytes=32, start=0, stop=program.steps.times[0][1], alignment=32, pool_candidates=(pool,)
    )
    pieces = [replace(blank, id=f"piece{index}") for index in range(20)]
    table = resized(program, buffers=(*program.memory.problem.buffers, *pieces))
    places = {p.id: Placement(pool=pool, offset=end + 64 * i) for i, p in enumerate(pieces)}
    return Wrong(code=program, table=moved(table, places), step=0)


def _through(program: Program) -> Wrong:
    """The code puts a result into a residual that is alive, but no business of that step."""
    pool, offset, places = program.memory.problem.pools[-1].name, 0, dict[str, Placement]()
    for buffer in program.memory.problem.buffers:
        places[buffer.id] = Placement(pool=pool, offset=offset)
        offset += -(-buffer.size_bytes // GRANULE_BYTES) * GRANULE_BYTES
    apart = moved(program, places)
    step, alive, made = next(
        (step, alive, made)
        for step, (start, stop) in enumerate(apart.steps.times)
        for alive in apart.memory.problem.buffers
        if alive.start < start and alive.stop > stop and alive.id not in _argument_buffers(apart, step)
        for made in apart.memory.problem.buffers
        if made.start == start and made.size_bytes <= alive.size_bytes
    )
    return Wrong(code=moved(apart, {made.id: places[alive.id]}), table=apart, step=step)


def _argument_buffers(program: Program, step: int) -> set[str]:
    args = program.steps.prim_funcs[step].let.call.args
    names = [arg.name for arg in args if isinstance(arg, Var)]
    return {program.memory.slices[name].buffer for name in names if name in program.memory.slices}


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A target whose firmware holds the model several times: right, and wrong in several ways."""

    target: LinkedTarget
    models: Mapping[str, Wrong]

    def run(self, kind: str) -> RunResult:
        index = list(self.models).index(kind)
        wanted = request(self.models[kind].code, golden_cases(RESNET)[:1], model=index, sandboxed=True)
        return self.target.run(wanted)

    def error(self, kind: str) -> Message:
        with pytest.raises(CodegenError) as raised:
            self.run(kind)
        assert raised.value.exit_code is ExitCode.TARGET
        return raised.value.messages[0]

    def place(self, kind: str) -> str:
        wrong = self.models[kind]
        return f"step {wrong.step} {wrong.code.steps.prim_funcs[wrong.step].name}"


@pytest.fixture(scope="module", params=[BOARDS[0], pytest.param(BOARDS[1], marks=pytest.mark.thorough)])
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Bench]:
    """One firmware, one boot: that the link lives on after every fault and refusal is part of the test."""
    program = _program(request.param)
    models = {
        "right": Wrong(code=program, table=program, step=0),
        "shorter": _shorter(program),
        "moved": _moved(program, GRANULE_BYTES),
        "unaligned": _moved(program, 8),
        "in_pieces": _in_pieces(program),
        "through": _through(program),
    }
    models = {
        kind: replace(each, code=replace(each.code, name=kind), table=replace(each.table, name=kind))
        for kind, each in models.items()
    }
    sources = emit.render(together([each.code for each in models.values()]))
    tables = [f"firmware/{kind}_bench.c" for kind in models]
    told = emit.render(together([each.table for each in models.values()]))
    files = {path: told.files[path] for path in tables}
    mixed = replace(sources, files={**sources.files, **files})
    folder = tmp_path_factory.mktemp(request.param) / "build"
    emit.write(mixed, folder)
    image = toolchain.build(mixed, folder, program.board)
    with target_session(image, program.board) as target:
        yield Bench(target=target, models=models)


@pytest.mark.qemu
@pytest.mark.parametrize("kind", ["shorter", "moved", "through"])
@pytest.mark.sampled(1)
def test_bytes_of_others_are_closed(bench: Bench, kind: str) -> None:
    """A buffer that the table lets die too early, one it has elsewhere, one of another step."""
    message = bench.error(kind)
    assert (message.code, message.where) == ("E620", bench.place(kind))
    assert "access to memory that is closed" in message.text and "(models_" in message.text
    _runs_right(bench)


@pytest.mark.qemu
def test_too_few_regions_are_an_error(bench: Bench) -> None:
    """As many as the target says it has: the AN505 has 16 in QEMU 7, and 8 from QEMU 9 on, as a real one."""
    message = bench.error("in_pieces")
    assert (message.code, message.where) == ("E622", bench.place("in_pieces"))
    begin = "cannot be sandboxed: its buffers lie in more separate ranges than the MPU has regions"
    assert message.text in (f"{begin} (16) to open", f"{begin} (8) to open")
    _runs_right(bench)


@pytest.mark.qemu
def test_buffers_must_start_where_a_region_can(bench: Bench) -> None:
    message = bench.error("unaligned")
    assert (message.code, message.where) == ("E622", bench.place("unaligned"))
    assert "a buffer does not start at a multiple of 32 bytes" in message.text
    _runs_right(bench)


def _runs_right(bench: Bench) -> None:
    expected = golden_cases(RESNET)[0].known_outputs
    assert expected is not None
    got = bench.run("right").cases[0]
    assert got.outputs == tuple(array.tobytes() for array in expected)
    assert got.paints_agree and got.guards_intact and got.stack_peak_bytes is None


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["host", "mps2-an386", "microbit"])
def test_other_boards_cannot(board: str) -> None:
    with pytest.raises(CodegenError) as raised:
        sandbox_board(boards.load_board(board))
    assert str(raised.value).startswith(
        f"error[E253] {board}: cannot sandbox a run: its core has no memory protection unit that opens exact"
    )


KWS = "speech"


def _run(program: Program, key: str, folder: Path) -> RunResult | MemoryFault:
    sources = emit.render(together([program]))
    emit.write(sources, folder / "build")
    board = boards.load_board("host")
    image = toolchain.build(sources, folder / "build", board, optimize="balanced", sanitize=True)
    return run_poisoned(image, board, request(program, golden_cases(key)[:2]))


def _host_program(key: str) -> Program:
    return plan_model(model_path(key), boards.load_board("host"), Options(board="host")).program


@pytest.mark.parametrize(
    "key",
    [pytest.param(key, marks=() if key in OF_EACH_KIND else pytest.mark.thorough) for key in ALL_MODELS],
)
@pytest.mark.sampled(2)
def test_no_report_on_any_model(key: str, tmp_path: Path) -> None:
    found = _run(_host_program(key), key, tmp_path)
    assert isinstance(found, RunResult), found
    assert all(case.paints_agree and case.guards_intact for case in found.cases)


def _compressed(key: str) -> Program:
    """With constants that exceed their pool by 1 %."""
    (pool,) = _host_program(key).constants.pools
    options = Options(board="host", pool_limits={pool.name: pool.size_bytes * 99 // 100})
    program = plan_model(model_path(key), boards.load_board("host"), options).program
    assert program.constants.unpacked
    return program


@pytest.mark.parametrize("key", [KWS, "autoencoder"])
@pytest.mark.sampled(1)
def test_no_report_where_constants_are_decoded(key: str, tmp_path: Path) -> None:
    found = _run(_compressed(key), key, tmp_path)
    assert isinstance(found, RunResult), found
    assert all(case.paints_agree and case.guards_intact for case in found.cases)


def test_a_decoded_constant_beyond_its_buffer_is_reported(tmp_path: Path) -> None:
    """The plan takes the buffer for 64 bytes shorter than what is decoded to it."""
    program = _compressed(KWS)
    victim = program.constants.unpacked[0].buffer
    shorter = tuple(
        replace(b, size_bytes=b.size_bytes - 64) if b.id == victim else b
        for b in program.memory.problem.buffers
    )
    program = resized(program, buffers=shorter)
    assert isinstance(_run(program, KWS, tmp_path), MemoryFault)


def _largest_id(program: Program) -> str:
    return max(program.memory.problem.buffers, key=lambda buffer: (buffer.size_bytes, -buffer.start)).id


def _shorter_by_one(program: Program) -> Program:
    """The largest buffer dies one step too early: its reader is not covered any more."""
    victim = _largest_id(program)
    buffers = tuple(
        replace(b, stop=b.stop - 1) if b.id == victim else b for b in program.memory.problem.buffers
    )
    return resized(program, buffers=buffers)


def _shifted(program: Program) -> Program:
    """The largest buffer's place is recorded eight bytes too high: kernels use bytes nobody owns."""
    victim = _largest_id(program)
    place = program.memory.plan.placements[victim]
    return moved(program, {victim: Placement(pool=place.pool, offset=place.offset + 8)})


def _onto_its_neighbour(program: Program) -> Program:
    """The largest buffer lies where a buffer of the same moment lies."""
    conflict = next(
        c for c in program.memory.problem.conflicts if _largest_id(program) in (c.first, c.second)
    )
    place = program.memory.plan.placements[conflict.second]
    assert not replace(conflict, first_below=1, second_below=1).holds(place.offset, place.offset)
    return moved(program, {conflict.first: place})


def _with_live_table_of(right: Program, wrong: Program, folder: Path) -> RunResult | MemoryFault:
    """C code of `right`, ownership table of `wrong`: what a wrong plan looks like to the poisoned run."""
    sources = emit.render(together([right]))
    bench = emit.render(together([wrong])).files[f"firmware/{right.name}_bench.c"]
    mixed = replace(sources, files={**sources.files, f"firmware/{right.name}_bench.c": bench})
    emit.write(mixed, folder / "build")
    board = boards.load_board("host")
    image = toolchain.build(mixed, folder / "build", board, optimize="balanced", sanitize=True)
    return run_poisoned(image, board, request(right, golden_cases(KWS)[:1]))


@pytest.mark.parametrize("mutate", [_shorter_by_one, _shifted])
def test_a_wrong_plan_is_caught_while_running(mutate: Callable[[Program], Program], tmp_path: Path) -> None:
    program = _host_program(KWS)
    found = _with_live_table_of(program, mutate(program), tmp_path)
    assert isinstance(found, MemoryFault)
    assert found.step is not None


def test_a_wrong_plan_never_leaves_the_search() -> None:
    program = _host_program(KWS)
    search.check(program)
    with pytest.raises(ValueError, match="made a wrong plan"):
        search.check(_onto_its_neighbour(program))
