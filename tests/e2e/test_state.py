"""State on targets: sequences of inferences as an application runs them, against NumPy, bit by bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from codegen.ir.evaluate import evaluate
from codegen.program.interface import ConstantsMode, EntryMode, Interface, PoolOwner
from tests.e2e.streaming import CLASSES, FEATURES, FRAMES, STATES, streaming
from tests.e2e.test_entry import built, cases, check, planned

pytestmark = pytest.mark.qemu

STATIC = Interface()
STEPS = Interface(entry=EntryMode.STEPS)
OWNED = Interface(entry=EntryMode.STEPS, pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL)

SEQUENCE = """
#include <string.h>

static const int8_t frames[COUNT][FEATURES] = {FRAMES};
static const int8_t expected[COUNT][CLASSES] = {EXPECTED};

/* Twice from the start: what the first sequence leaves must not be seen by the second. */
static cg_status run(void)
{
TAKE
    CG_BENCH_BEFORE_CALL();
    for (uint32_t turn = 0; turn < 2u; turn++) {
        RESET
        for (uint32_t i = 0; i < COUNTu; i++) {
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


@pytest.mark.parametrize(
    ("board", "count"), [("host", 60), ("mps2-an386", 8), ("mps3-an547", 8), ("microbit", 8)]
)
@pytest.mark.parametrize("interface", [STATIC, STEPS, OWNED], ids=["static", "steps", "owned"])
def test_sequences_are_as_numpy_has_them(
    board: str, count: int, interface: Interface, tmp_path: Path
) -> None:
    """State begins at its zero point, 3, whatever the link wrote there before."""
    model = planned(streaming(tmp_path), board, interface, states=STATES)
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


@pytest.mark.parametrize("board", ["mps2-an386", "host"])
@pytest.mark.parametrize("optimize", ["speed", "balanced", "size"])
def test_the_test_link_sets_and_reads_state(board: str, optimize: str, tmp_path: Path) -> None:
    """A single inference of `run` and `validate` takes state as any input and shows it as any output."""
    model = planned(streaming(tmp_path), board, STATIC, states=STATES, optimize=optimize)
    check(built(model, tmp_path / "build"), cases(model.program, 3))


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


def test_options_spell_state() -> None:
    options = Options(states=tuple(replace(state, model="stream") for state in STATES[:1]))
    assert options.spelled.endswith("state:model=stream:input=past/in:output=past/out")
