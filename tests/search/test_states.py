"""State: pairs that cannot be, and plans in which nothing but state lies in the bytes of state."""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen import board as boards
from codegen import joint
from codegen.driver.build import build, plan_model
from codegen.driver.inputs.declared_pools import DeclaredPool, option_board
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.rules import StateRule
from codegen.lifetimes import replay
from codegen.plan import validate
from codegen.program.interface import IoMode
from codegen.program.program import Program
from tests.e2e.streaming import FRAMES, STATES, streaming
from tests.emit.variants import moved

PAST, MEAN = STATES


def _program(folder: Path, states: tuple[StateRule, ...] = STATES, **settings: object) -> Program:
    options = replace(Options(board="mps2-an386", states=states), **settings)
    return plan_model(streaming(folder), boards.load_board("mps2-an386"), options, emulated=True).program


def _texts(caught: pytest.ExceptionInfo[CodegenError]) -> list[str]:
    return [f"{message.code} {message.where}: {message.text}" for message in caught.value.messages]


def test_names_that_there_are_not(tmp_path: Path) -> None:
    rules = (replace(PAST, input="past/out"), replace(MEAN, output="nothing"))
    with pytest.raises(CodegenError) as caught:
        _program(tmp_path, rules)
    assert _texts(caught) == [
        "E263 codegen.toml, state 1: the model has no input past/out",
        "E264 codegen.toml, state 2: the model has no output nothing",
    ]
    assert [message.help for message in caught.value.messages] == [
        "its inputs are frame, past/in, mean_in",
        "its outputs are y, past/out, mean_out",
    ]


def test_the_names_of_c_fields_do(tmp_path: Path) -> None:
    fields = (replace(PAST, input="past_in", output="past_out"), MEAN)
    assert _program(tmp_path, fields).signature.states == _program(tmp_path).signature.states


def test_pairs_that_are_not_alike(tmp_path: Path) -> None:
    """All at once; the shape of one, both ends of another taken twice."""
    rules = (replace(PAST, output="mean_out"), MEAN, replace(MEAN, who="codegen.toml, state 3"))
    with pytest.raises(CodegenError) as caught:
        _program(tmp_path, rules)
    assert _texts(caught) == [
        f"E265 codegen.toml, state 1: input past_in is int8[1,{FRAMES},6], output mean_out int8[1,8]",
        "E266 codegen.toml, state 2: output mean_out is in codegen.toml, state 1 already",
        "E266 codegen.toml, state 3: input mean_in is in codegen.toml, state 2 already",
        "E266 codegen.toml, state 3: output mean_out is in codegen.toml, state 1 already",
    ]


def test_pairs_of_two_scales(tmp_path: Path) -> None:
    path = streaming(tmp_path, mean_scale=0.06)
    options = Options(board="mps2-an386", states=(MEAN,))
    with pytest.raises(CodegenError) as caught:
        plan_model(path, boards.load_board("mps2-an386"), options)
    assert _texts(caught) == [
        "E265 codegen.toml, state 2: input mean_in has scale 0.0500000007 and zero point 3, "
        "output mean_out scale 0.0599999987 and zero point 3"
    ]


def _renamed(folder: Path) -> Path:
    """A model that gives its state back under another shape, and as it is to be: old and new are one."""
    model = ModelBuilder()
    x, past = (model.tensor(name, (1, 6), "int8", scale=0.5, zero_point=0) for name in ("x", "past"))
    seen = model.tensor("seen", (6, 1), "int8", scale=0.5, zero_point=0)
    total = model.tensor("sum", (1, 6), "int8", scale=0.5, zero_point=0)
    model.op("RESHAPE", [past, model.constant("shape", [6, 1])], [seen])
    model.op("ADD", [x, past], [total])
    model.inputs(x, past)
    model.outputs(total, seen)
    path = folder / "renamed.tflite"
    path.write_bytes(model.build())
    return path


def test_an_output_that_is_the_state_itself(tmp_path: Path) -> None:
    options = Options(board="mps2-an386", states=(StateRule(who="state 1", input="past", output="sum"),))
    with pytest.raises(CodegenError) as caught:
        plan_model(_renamed(tmp_path), boards.load_board("mps2-an386"), options)
    assert _texts(caught) == [
        "E267 output seen: it lies in the bytes of state past, over which the new state is copied: no step "
        "(only RESHAPE and the like) makes it of them"
    ]
    help_ = "help: take it out of the model's outputs, or let the model compute it (multiply it by 1)"
    assert str(caught.value).endswith(help_)


def test_the_application_has_to_have_inputs_and_outputs(tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as caught:
        _program(tmp_path, io=IoMode.CALLER)
    who = "codegen.toml, state 1, codegen.toml, state 2"
    assert _texts(caught) == [f"E268 {who}: with --io caller no input or output is the model's own"]
    options = Options(
        board="mps2-an386",
        states=(
            StateRule(who="state 1", input="x", output="sum"),
            StateRule(who="state 2", input="past", output="seen"),
        ),
    )
    with pytest.raises(CodegenError) as caught:
        plan_model(_renamed(tmp_path), boards.load_board("mps2-an386"), options)
    assert _texts(caught)[1:] == [
        "E268 state 1, state 2: every input of the model is state",
        "E268 state 1, state 2: every output of the model is state",
    ]


def test_of_several_models_state_says_of_which_it_is(tmp_path: Path) -> None:
    first = streaming(tmp_path)
    second = tmp_path / "other.tflite"
    second.write_bytes(first.read_bytes())
    rules = (PAST, replace(MEAN, model="nobody"))
    with pytest.raises(CodegenError) as caught:
        build([first, second], Options(board="mps2-an386", states=rules), tmp_path / "build")
    assert _texts(caught) == [
        "E244 codegen.toml, state 1: of several models, state says of which it is",
        "E244 codegen.toml, state 2: no model is called nobody",
    ]


def test_state_of_several_models_lies_apart(tmp_path: Path) -> None:
    """All of both models share one pool, but for the state of one, which nobody else may touch."""
    first = streaming(tmp_path)
    second = tmp_path / "other.tflite"
    second.write_bytes(first.read_bytes())
    rules = tuple(replace(state, model=name) for name in ("stream", "other") for state in STATES)
    bundle = build([first, second], Options(board="host", states=rules), tmp_path / "build").bundle
    assert [pool.name for pool in bundle.pools] == ["sram", "sram_state"]
    held: dict[str, list[tuple[int, int]]] = {}
    for program in bundle.programs:
        for old, _ in program.signature.state_tensors:
            place = program.memory.plan.placements[program.memory.slices[old.value].buffer]
            assert place.pool == "sram_state"
            start = bundle.base(program.name, place.pool) + place.offset
            held.setdefault(program.name, []).append((start, start + old.type.size_bytes))
        assert bundle.base(program.name, "sram") == 0
    assert all(
        stop <= begin or end <= start for start, stop in held["stream"] for begin, end in held["other"]
    )
    moved = replace(bundle, bases={**bundle.bases, ("other", "sram_state"): 0})
    assert joint.faults(moved) == [
        f"other and stream keep state and share bytes of pool sram_state from {place} on"
        for place in sorted(
            {max(one[0], two[0]) for one in held["stream"] for two in held["stream"] if one == two}
        )
    ]


RETAINED = StateRule(who="codegen.toml, state 3", memory="retained")
POOL = DeclaredPool(name="retained", size_bytes=4096, address=0x20300000)


@pytest.mark.parametrize(
    "rules",
    [(*STATES, RETAINED), tuple(replace(each, memory="retained") for each in STATES)],
    ids=["all", "each"],
)
def test_state_in_a_pool_of_its_own(rules: tuple[StateRule, ...], tmp_path: Path) -> None:
    """All state and nothing else lies there: in a section of its own, at that address in the ELF."""
    built_ = build(
        [streaming(tmp_path)],
        Options(board="mps2-an386", states=rules, pools=(POOL,)),
        tmp_path / "build",
        emulated=True,
    )
    program = built_.models[0].program
    held = {program.memory.slices[old.value].buffer for old, _ in program.signature.state_tensors}
    placements = program.memory.plan.placements
    assert held == {name for name, place in placements.items() if place.pool == "retained"}
    [pool] = (pool for pool in built_.bundle.pools if pool.name == "retained")
    assert pool.section == ".bss.cg.retained" and pool.size_bytes == 32  # 24 and 8 bytes
    [address] = (at for name, (at, _) in built_.image.symbols.items() if name.endswith("_retained_pool"))
    assert POOL.address <= address < POOL.end
    assert "memory=retained" in Options(states=rules).spelled


def test_one_of_two_states_in_a_pool_of_its_own(tmp_path: Path) -> None:
    program = _program_in_pool(tmp_path, (PAST, replace(MEAN, memory="retained")))
    placements = program.memory.plan.placements
    assert [name for name, place in placements.items() if place.pool == "retained"] == ["mean_in"]


def _program_in_pool(folder: Path, rules: tuple[StateRule, ...]) -> Program:
    options = Options(board="mps2-an386", states=rules, pools=(POOL,))
    return plan_model(streaming(folder), option_board("mps2-an386", (POOL,)), options, emulated=True).program


def test_several_models_keep_their_state_in_one_pool(tmp_path: Path) -> None:
    first = streaming(tmp_path)
    second = tmp_path / "other.tflite"
    second.write_bytes(first.read_bytes())
    rules = (RETAINED, *(replace(state, model=name) for name in ("stream", "other") for state in STATES))
    options = Options(board="mps2-an386", states=rules, pools=(POOL,))
    bundle = build([first, second], options, tmp_path / "build", emulated=True).bundle
    assert [(pool.name, pool.size_bytes) for pool in bundle.pools if pool.name != "sram"] == [
        ("retained", 64)
    ]
    assert {bundle.base(program.name, "retained") for program in bundle.programs} == {0, 32}


@pytest.mark.parametrize(
    ("rules", "texts"),
    [
        (
            (*STATES, replace(RETAINED, memory="attic")),
            ["E242 codegen.toml, state 3: there is no pool attic for state"],
        ),
        (
            (*STATES, *(replace(RETAINED, memory=name) for name in ("sram", "psram", "retained"))),
            [
                f"E242 {', '.join(['codegen.toml, state 3'] * 3)}: "
                "state alone lies in a pool that it is given: none is left for all other values"
            ],
        ),
        (
            (*STATES, RETAINED, replace(RETAINED, who="codegen.toml, state 4")),
            [
                "E266 codegen.toml, state 4: "
                "codegen.toml, state 3 says already where all state of the model lies"
            ],
        ),
        ((RETAINED,), ["E263 codegen.toml, state 3: the model keeps no state"]),
    ],
    ids=["no pool", "no other", "twice", "no state"],
)
def test_pools_that_state_cannot_have(rules: tuple[StateRule, ...], texts: list[str], tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as caught:
        _program_in_pool(tmp_path, rules)
    assert _texts(caught) == texts


@pytest.mark.parametrize("optimize", ["speed", "balanced", "size"])
@pytest.mark.parametrize("sharing", ["none", "in-place", "overlap"])
@pytest.mark.parametrize("keep_inputs", [False, True])
def test_nothing_else_ever_lies_in_the_bytes_of_state(
    optimize: str, sharing: str, keep_inputs: bool, tmp_path: Path
) -> None:
    program = _program(tmp_path, optimize=optimize, sharing=sharing, keep_inputs=keep_inputs)
    assert [(state.input, state.output) for state in program.signature.states] == [
        ("past_in", "past_out"),
        ("mean_in", "mean_out"),
    ]
    sizes = {buffer.id: buffer.size_bytes for buffer in program.memory.problem.buffers}
    for first, second in program.signature.state_tensors:
        held = program.memory.slices[first.value].buffer
        assert program.memory.slices[second.value].buffer != held
        mine = program.memory.plan.placements[held]
        for other, place in program.memory.plan.placements.items():
            ends = (mine.offset + sizes[held], place.offset + sizes[other])
            apart = ends[0] <= place.offset or ends[1] <= mine.offset or mine.pool != place.pool
            assert apart or other == held, f"{other} lies in {held}"


def test_state_of_another_model_changes_nothing(tmp_path: Path) -> None:
    other = _program(tmp_path, (replace(PAST, model="other"),))
    assert not other.signature.states
    assert other.memory.plan.placements == _program(tmp_path, ()).memory.plan.placements


@pytest.mark.parametrize("guest", ["frame", "concat0", "fc5"])
def test_both_checkers_see_what_is_laid_over_state(guest: str, tmp_path: Path) -> None:
    program = _program(tmp_path, optimize="speed")
    wrong = moved(program, {guest: program.memory.plan.placements["past_in"]})
    assert any("past_in" in text for text in replay.replay_program(wrong))
    assert any("past_in" in text for text in validate.violations(wrong.memory.problem, wrong.memory.plan))
    assert not replay.replay_program(program)
