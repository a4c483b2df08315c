"""State on targets: sequences of inferences as an application runs them, against NumPy, bit by bit.
`run --sequence`: inferences one after another, state kept, each compared; on the host and on targets.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.cli.main import main
from codegen.driver.build import Planned
from codegen.driver.inputs.cases import ArraySource, Case, sequence_cases
from codegen.driver.inputs.declared_pools import DeclaredPool
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute
from codegen.errors import CodegenError
from codegen.ir.evaluate import evaluate
from codegen.ir.rules import StateRule
from codegen.program.image import Trace
from codegen.program.interface import ConstantsMode, EntryMode, Interface, PoolOwner
from tests.e2e.streaming import CLASSES, FEATURES, FRAMES, STATES, streaming
from tests.e2e.test_entry import built, cases, check, planned

STATIC = Interface()
STEPS = Interface(entry=EntryMode.STEPS)
OWNED = Interface(entry=EntryMode.STEPS, pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL)
RETAINED: Mapping[str, object] = {
    "states": (*STATES, StateRule(who="codegen.toml, state 3", memory="retained")),
    "pools": (DeclaredPool(name="retained", size_bytes=256, address=0x20300000),),
}
"""State in a pool of its own, which the board's memory does not have by itself."""
SEQUENCE = """
#include <string.h>

static const int8_t frames[COUNT][FEATURES] = {FRAMES};
static const int8_t expected[COUNT][CLASSES] = {EXPECTED};

/* One byte off any word, as saved bytes may be. */
static uint8_t room[STREAM_STATE_BYTES + 1u];
static uint8_t *const saved = room + 1;

/* What is no saved state of this model is refused. */
static int refuses(void)
{
    static const struct {
        uint32_t at;
        cg_status status;
    } cases[] = {
        {0u, CG_ERR_STATE_FORMAT},  {4u, CG_ERR_STATE_SIZE},    {8u, CG_ERR_STATE_LAYOUT},
        {20u, CG_ERR_STATE_LAYOUT}, {24u, CG_ERR_STATE_CONTENT}, {28u, CG_ERR_STATE_CONTENT},
        {STREAM_STATE_BYTES - 1u, CG_ERR_STATE_CONTENT},
    };
    int as_said = stream_load(POOLSsaved, STREAM_STATE_BYTES - 1u) == CG_ERR_STATE_SIZE;
    as_said &= stream_save(POOLSsaved, STREAM_STATE_BYTES + 1u) == CG_ERR_STATE_SIZE;
    as_said &= stream_load(POOLSNULL, STREAM_STATE_BYTES) == CG_ERR_NULL_POINTER;
    as_said &= stream_save(POOLSNULL, STREAM_STATE_BYTES) == CG_ERR_NULL_POINTER;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        saved[cases[i].at] ^= 1u;
        as_said &= stream_load(POOLSsaved, STREAM_STATE_BYTES) == cases[i].status;
        saved[cases[i].at] ^= 1u;
    }
    return as_said;
}

/* Twice from the start: what the first sequence leaves must not be seen by the second. Then from the
 * middle, with the state that was saved there. */
static cg_status run(void)
{
TAKE
    CG_BENCH_BEFORE_CALL();
    for (uint32_t turn = 0; turn < 3u; turn++) {
        RESET
        if ((turn == 2u) && (stream_load(POOLSsaved, STREAM_STATE_BYTES) != CG_OK)) {
            return (cg_status)97;
        }
        for (uint32_t i = (turn == 2u) ? COUNTu / 2u : 0u; i < COUNTu; i++) {
            const int halfway = i == COUNTu / 2u;
            if ((turn == 0u) && halfway && (stream_save(POOLSsaved, STREAM_STATE_BYTES) != CG_OK)) {
                return (cg_status)96;
            }
            if ((turn == 1u) && halfway && !refuses()) {
                return (cg_status)95;
            }
            int8_t scores[CLASSES];
            const stream_inputs inputs = {.frame = frames[i]};
            const stream_outputs outputs = {.y = scores};
            const cg_status status = stream_run(POOLS&inputs, &outputs);
            if (status != CG_OK) {
                return status;
            }
            if (memcmp(scores, expected[i], sizeof scores) != 0) {
                return (cg_status)(100 + (int)i);
            }
        }
    }
    CG_BENCH_AFTER_CALL();
    return CG_OK;
}
"""
TAKE = """    if (stream_set_constants(&pools, stream_constants_bytes, STREAM_CONSTANTS_SIZE) != CG_OK) {
        return (cg_status)99;
    }
"""
RESET = "if (stream_reset(&pools) != CG_OK) {\n            return (cg_status)98;\n        }"


def _rows(values: np.ndarray) -> str:
    return ", ".join("{" + ", ".join(map(str, row)) + "}" for row in values.reshape(len(values), -1).tolist())


def _with_sequence(text: str, interface: Interface, frames: np.ndarray, expected: np.ndarray) -> str:
    """The bench file of `stream` whose run is a sequence of inferences, as an application writes it."""
    head, _, rest = text.partition("static cg_status run(void)")
    _, _, tail = rest.partition("\n}\n")
    owned = interface.caller_pools
    run = SEQUENCE.replace("{FRAMES}", "{" + _rows(frames) + "}").replace(
        "{EXPECTED}", "{" + _rows(expected) + "}"
    )
    run = run.replace("COUNT", str(len(frames))).replace("FEATURES", str(FEATURES))
    run = run.replace("CLASSES", str(CLASSES)).replace("POOLS", "&pools, " if owned else "")
    run = run.replace("TAKE\n", TAKE if interface.external else "")
    return head + run.replace("RESET", RESET if owned else "stream_reset();") + tail


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("board", "count"), [("host", 60), ("mps2-an386", 8), ("mps3-an547", 8), ("microbit", 8)]
)
@pytest.mark.parametrize("interface", [STATIC, STEPS, OWNED], ids=["static", "steps", "owned"])
@pytest.mark.sampled()
def test_sequences_are_as_numpy_has_them(
    board: str, count: int, interface: Interface, tmp_path: Path
) -> None:
    """State begins at its zero point, 3, whatever the link wrote there before. On one board it has a pool
    of its own."""
    settings = RETAINED if board == "mps2-an386" else {"states": STATES}
    model = planned(streaming(tmp_path), board, interface, **settings)
    dice = np.random.default_rng(11)
    frames = dice.integers(-128, 128, (count, 1, 1, FEATURES)).astype(np.int8)
    past, mean = np.full((1, FRAMES, FEATURES), 3, np.int8), np.full((1, 8), 3, np.int8)
    scores: list[np.ndarray] = []
    for frame in frames:
        found, past, mean = evaluate(model.reference, model.reference.main, (frame, past, mean))
        scores.append(found)
    expected = np.stack(scores)
    assert len({each.tobytes() for each in scores}) > count // 2, "else nothing was shown"
    stateless = [
        evaluate(
            model.reference,
            model.reference.main,
            (frame, np.full_like(past, 3), np.full_like(mean, 3)),
        )[0]
        for frame in frames
    ]
    assert any((one != other).any() for one, other in zip(scores, stateless, strict=True))

    file = "firmware/stream_bench.c"
    done = built(
        model,
        tmp_path / "build",
        lambda files: {**files, file: _with_sequence(files[file], interface, frames, expected)},
    )
    # The link writes a case's inputs, state too, before it calls: the sequences must not see them.
    given = [
        Case(name=case.name, inputs=case.inputs, expected=(scores[-1], past, mean))
        for case in cases(model.program, 1)
    ]
    measured = execute(done, given)
    assert complaints(done.models[0], given, measured, done.image.sizes.stack_bound_bytes) == []


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["mps2-an386", "host"])
@pytest.mark.parametrize("optimize", ["speed", "balanced", "size"])
@pytest.mark.sampled()
def test_the_test_link_sets_and_reads_state(board: str, optimize: str, tmp_path: Path) -> None:
    """A single inference of `run` and `validate` takes state as any input and shows it as any output."""
    model = planned(streaming(tmp_path), board, STATIC, states=STATES, optimize=optimize)
    check(built(model, tmp_path / "build"), cases(model.program, 3))


@pytest.mark.qemu
def test_a_product_that_forgets_state_is_found_out(tmp_path: Path) -> None:
    """Without the copy of the last step the sequence differs: the test above can fail."""
    model = planned(streaming(tmp_path), "host", STATIC, states=STATES)
    frames = np.random.default_rng(11).integers(-128, 128, (4, 1, 1, FEATURES)).astype(np.int8)
    past, mean = np.full((1, FRAMES, FEATURES), 3, np.int8), np.full((1, 8), 3, np.int8)
    scores: list[np.ndarray] = []
    for frame in frames:
        found, past, mean = evaluate(model.reference, model.reference.main, (frame, past, mean))
        scores.append(found)

    def forgetting(files: dict[str, str]) -> dict[str, str]:
        file = "firmware/stream_bench.c"
        lines = files["stream.c"].splitlines(keepends=True)
        source = "".join(line for line in lines if not line.startswith("    memcpy(&stream"))
        assert source != files["stream.c"]
        bench = _with_sequence(files[file], STATIC, frames, np.stack(scores))
        return {**files, "stream.c": source, file: bench}

    done = built(model, tmp_path / "build", lambda files: forgetting(dict(files)))
    with pytest.raises(CodegenError, match=r"E611\].* status 101"):
        execute(done, cases(model.program, 1))


@pytest.mark.qemu
def test_options_spell_state() -> None:
    options = Options(states=tuple(replace(state, model="stream") for state in STATES[:1]))
    assert options.spelled.endswith("state:model=stream:input=past/in:output=past/out")


COUNT = 12


def recorded(model: Planned, folder: Path, *, states: bool = False) -> Path:
    """Frames and what NumPy makes of them, state handed on by hand: `seq_x0`, `seq_y0`, with states all."""
    frames = np.random.default_rng(11).integers(-128, 128, (COUNT, 1, 1, FEATURES)).astype(np.int8)
    past, mean = np.full((1, FRAMES, FEATURES), 3, np.int8), np.full((1, 8), 3, np.int8)
    rows: list[tuple[np.ndarray, ...]] = []
    for frame in frames:
        rows.append(tuple(evaluate(model.reference, model.reference.main, (frame, past, mean))))
        _, past, mean = rows[-1]
    assert len({row[0].tobytes() for row in rows}) > COUNT // 2, "else nothing was shown"
    outputs = {f"seq_y{i}": np.stack([row[i] for row in rows]) for i in range(3 if states else 1)}
    path = folder / "seq.npz"
    np.savez(path, seq_x0=frames, **outputs)  # type: ignore[arg-type]
    return path


def _cases(model: Planned, path: Path | None, *, compared: bool = True) -> list[Case]:
    source = None if path is None else ArraySource(path=path, prefix="seq")
    return sequence_cases(model.program, source, source if compared else None, 5)


def _check(model: Planned, folder: Path, given: list[Case]) -> None:
    done = built(model, folder / "build")
    measured = execute(done, given, RunConditions(sequence=True, trace=Trace.COST))
    assert complaints(done.models[0], given, measured, done.image.sizes.stack_bound_bytes) == []
    assert measured.result.sequence and len(measured.result.cases) == len(given)


@pytest.mark.parametrize("interface", [STATIC, OWNED], ids=["static", "owned"])
@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
@pytest.mark.sampled()
def test_a_sequence_is_as_numpy_has_it(board: str, interface: Interface, tmp_path: Path) -> None:
    """Single inferences alone were checked: a state that is not kept would not have been seen."""
    model = planned(streaming(tmp_path), board, interface, states=STATES)
    path = recorded(model, tmp_path, states=board != "host")
    _check(model, tmp_path, _cases(model, path))


def test_a_made_up_sequence(tmp_path: Path) -> None:
    model = planned(streaming(tmp_path), "host", STATIC, states=STATES)
    _check(model, tmp_path, _cases(model, None))
    _check(model, tmp_path, _cases(model, recorded(model, tmp_path), compared=False))


@pytest.mark.parametrize(
    ("board", "edit"),
    [
        ("host", "forget"),
        ("host", "no reset"),
        pytest.param("mps2-an386", "forget", marks=pytest.mark.qemu),
        pytest.param("mps2-an386", "no reset", marks=pytest.mark.qemu),
    ],
)
def test_products_that_lose_or_keep_state_wrongly_are_found(board: str, edit: str, tmp_path: Path) -> None:
    """`forget`: the last step does not copy the new state; `no reset`: the first inference finds anything."""
    model = planned(streaming(tmp_path), board, STATIC, states=STATES)
    start = "    memcpy(&stream" if edit == "forget" else "    memset("

    def spoiled(files: Mapping[str, str]) -> dict[str, str]:
        lines = files["stream.c"].splitlines(keepends=True)
        source = "".join(line for line in lines if not line.startswith(start))
        assert source != files["stream.c"]
        return {**files, "stream.c": source}

    done = built(model, tmp_path / "build", spoiled)
    given = _cases(model, recorded(model, tmp_path))
    found = complaints(model, given, execute(done, given, RunConditions(sequence=True)), None)
    wrong = [message.where for message in found if message.code == "E701"]
    first = 1 if edit == "forget" else 0
    assert wrong and wrong[0] and wrong[0].startswith(f"case seq, row {first}, ")


def test_a_sequence_of_a_model_with_state_on_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The file has neither state nor what becomes of it: those are begun at zero, and compared with NumPy."""
    model = streaming(tmp_path)
    arrays = recorded(planned(model, "host", STATIC, states=STATES), tmp_path)
    tables = (f'[[state]]\ninput = "{each.input}"\noutput = "{each.output}"\n' for each in STATES)
    (tmp_path / "codegen.toml").write_text("".join(tables))
    monkeypatch.chdir(tmp_path)
    words = ["run", str(model), "--board", "host", "--sequence", "--input", f"{arrays}:seq"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--expect", f"{arrays}:seq"])
    assert left.value.code in (0, None)
    assert f"outputs   {COUNT} of {COUNT} inferences of one sequence equal to the expected outputs" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({}, 'no array seq_x0 for input 0\nhelp: it holds "'),
        ({"x0": np.zeros((3, 5), np.int8)}, "array seq_x0 is int8[3, 5], not rows of input 0, "),
        ({"x0": np.zeros((3, 6), np.int16)}, "array seq_x0 is int16[3, 6], not rows of input 0, "),
        ({"x0": np.int8(3)}, "array seq_x0 is int8[], not rows of input 0, "),
        (
            {"x0": np.zeros((3, 6), np.int8), "x1": np.zeros((2, FRAMES, FEATURES), np.int8)},
            "inputs have 2 and 3 rows\nhelp: row k of every array is",
        ),
        (
            {"x0": np.zeros((3, 6), np.int8), "y0": np.zeros((2, 5), np.int8)},
            "the sequence has 3 rows of inputs, 2 of outputs",
        ),
    ],
    ids=["missing", "size", "type", "no axis", "rows", "outputs"],
)
def test_arrays_that_are_no_sequence(arrays: Mapping[str, np.ndarray], text: str, tmp_path: Path) -> None:
    model = planned(streaming(tmp_path), "host", STATIC, states=STATES)
    path = tmp_path / "bad.npz"
    np.savez(path, **{f"seq_{key}": data for key, data in arrays.items()})  # type: ignore[arg-type]
    with pytest.raises(CodegenError) as raised:
        _cases(model, path)
    assert text.rstrip('"') in str(raised.value) and raised.value.exit_code == 2
