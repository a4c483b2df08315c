"""Streaming wake words of the shared test data: sequences bit-exact to tflite-micro, in the planned bytes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
from codegen import importers
from codegen.board import load_board
from codegen.board.machines.host import loaded
from codegen.cli.case_files import model_cases
from codegen.driver.build import Built, build, plan_model
from codegen.driver.inputs.cases import ArraySource, Case, sequence_cases
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute, execute_all
from codegen.errors import CodegenError
from codegen.ir import Module
from codegen.ir.formulas import constant_of
from codegen.program.image import Trace
from codegen.program.interface import IoMode
from tests.public.testdata import golden, model_path

RAM_BYTES = {
    "v2_okay_nabu": 5_200,
    "v2_hey_jarvis": 4_400,
    "v2_vad": 2_000,
    "okay_nabu": 12_000,
    "v2_choo_choo_homie": 5_500,
}
"""The most that state and values may take together."""
LIMITED = "mps2-an385"
"""Kernels for a Cortex-M3 unfold more of an image where there is room: here they are told the limit."""
TFLM_BYTES = {"v2_okay_nabu": 19_268, "v2_hey_jarvis": 17_492, "v2_vad": 10_052, "okay_nabu": 45_380}
"""Arenas that tflite-micro takes on a Cortex-M4."""
INSTRUCTIONS = {"v2_okay_nabu": 62_000, "v2_hey_jarvis": 52_000, "v2_vad": 30_000, "okay_nabu": 105_000}
"""The most that a step may run on a Cortex-M4."""
OWN_CODE = ("mps2-an386", "mps3-an547")
ROWS = {"mps2-an386": 10, "mps2-an385": 4, "mps3-an547": 4, "mps2-an505": 4}
"""Of each network's sequence, by board."""


@pytest.fixture
def with_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outputs saturate: models show the argument of their last LOGISTIC as output 1."""
    load = importers.load

    def shown(*args: Any, **named: Any) -> Module:
        module = load(*args, **named)
        function = module.main
        [logistic] = [let for let in function.body if let.call.op.name == "LOGISTIC"]
        logit = logistic.call.args[0]
        assert logit is not None
        first, *others = function.results
        states = [replace(each, result=each.result + 1) for each in function.states]
        function = replace(function, results=(first, logit, *others), states=tuple(states))
        return replace(module, functions={function.name: function})

    monkeypatch.setattr(importers, "load", shown)


def _arrays(name: str, sequence: str, folder: Path, rows: int | None = None) -> Path:
    """What tflite-micro gave: inputs, outputs, the argument of the last LOGISTIC."""
    found = golden(f"wake_word/{name}")
    [logit] = [key for key in found if re.fullmatch(f"{sequence}_t[0-9]+", key)]
    path = folder / f"{sequence}.npz"
    keys = {"x0": f"{sequence}_x0", "y0": f"{sequence}_y0", "y1": logit}
    np.savez(path, **{key: found[name][:rows] for key, name in keys.items()})  # type: ignore[arg-type]
    return path


def _cases(done: Built, arrays: Path, model: int = 0) -> list[Case]:
    source = ArraySource(path=arrays)
    return sequence_cases(done.models[model].program, source, source, 0)


def _built(names: Sequence[str], board: str, folder: Path, limits: Mapping[str, int] | None = None) -> Built:
    models = [model_path(f"wake_word/{name}") for name in names]
    options = Options(board=board, pool_limits=dict(limits or {}))
    return build(models, options, folder / "build", emulated=True)


@pytest.mark.usefixtures("with_logits")
@pytest.mark.parametrize("name", sorted(RAM_BYTES))
@pytest.mark.parametrize(
    "board",
    ["host", *(pytest.param(each, marks=[pytest.mark.qemu, pytest.mark.long]) for each in sorted(ROWS))],
)
def test_sequences_are_as_tflite_micro_has_them(board: str, name: str, tmp_path: Path) -> None:
    """All 200 steps and all features of real audio, outputs and logits against the goldens, state against
    NumPy; measured peaks are the planned ones."""
    limits = {"sram": RAM_BYTES[name], "psram": 0} if board == LIMITED else None
    done = _built([name], board, tmp_path, limits)
    for sequence in ("seq", "real"):
        given = _cases(done, _arrays(name, sequence, tmp_path))
        assert len(given) > 60
        measured = execute(done, given, RunConditions(sequence=True))
        assert complaints(done.models[0], given, measured, done.image.sizes.stack_bound_bytes) == []
    program = done.models[0].program
    assert program.signature.states and not program.copied_states, "every window is shifted where it is"
    assert sum(pool.size_bytes for pool in done.bundle.pools) <= RAM_BYTES[name]


@pytest.mark.qemu
@pytest.mark.usefixtures("with_logits")
@pytest.mark.parametrize(
    "board",
    # The cores that get code of their own; the others, whose code is portable or the M4's, with --long.
    [pytest.param(each, marks=() if each in OWN_CODE else pytest.mark.long) for each in sorted(ROWS)],
)
def test_all_in_one_firmware(board: str, tmp_path: Path) -> None:
    """One boot: workspaces are shared, state is not, and each sequence is as from the model alone."""
    names = sorted(RAM_BYTES)
    done = _built(names, board, tmp_path)
    given = [_cases(done, _arrays(name, "real", tmp_path, ROWS[board]), at) for at, name in enumerate(names)]
    every = execute_all(done, given, RunConditions(sequence=True, trace=Trace.COST))
    for model, own, measured in zip(done.models, given, every, strict=True):
        assert complaints(model, own, measured, done.image.sizes.stack_bound_bytes) == []
        instructions = measured.result.cases[0].instructions
        assert instructions is not None
        if board == "mps2-an386" and model.program.name in INSTRUCTIONS:
            assert instructions <= INSTRUCTIONS[model.program.name], model.program.name
    assert sum(pool.size_bytes for pool in done.bundle.pools) * 4 < sum(TFLM_BYTES.values())


def test_models_take_turns(tmp_path: Path) -> None:
    """A thousand inferences of three models in any order: each finds its own state, as if it ran alone."""
    names = ("v2_hey_jarvis", "v2_okay_nabu", "v2_vad")
    done = _built(names, "host", tmp_path)
    dice = np.random.default_rng(7)
    left = dict.fromkeys(range(len(names)), 0)
    with loaded(done.image.path) as (ffi, library):
        for at in left:
            library.cg_host_begin(at, 0x5A)
        for at in left:
            assert library.cg_host_reset(at) == 0
        for _ in range(1_000):
            at = int(dice.integers(len(names)))
            arrays, row = golden(f"wake_word/{names[at]}"), left[at] % 200
            if row == 0:
                assert library.cg_host_reset(at) == 0
            library.cg_host_write(at, 0, arrays["seq_x0"][row].tobytes())
            sizes = [tensor.type.size_bytes for tensor in done.models[at].program.signature.outputs]
            written = ffi.new("uint8_t[]", sum(sizes) + 1)
            assert library.cg_host_infer(at, written, ffi.NULL) == 0
            assert written[0] == arrays["seq_y0"][row].item(), (names[at], row)
            left[at] += 1
    assert min(left.values()) > 250


def test_single_inferences_begin_with_fresh_state(tmp_path: Path) -> None:
    """As from a fresh interpreter: variables of which no array is given are as at the beginning."""
    done, arrays = _built(["v2_vad"], "host", tmp_path), tmp_path / "golden.npz"
    np.savez(arrays, **golden("wake_word/v2_vad"))  # type: ignore[arg-type]
    for case in ("a", "b", "c"):
        source = {"v2_vad": ArraySource(path=arrays, prefix=case)}
        [given] = model_cases(done, [model_path("wake_word/v2_vad")], source, source, Options())
        measured = execute(done, given)
        assert complaints(done.models[0], given, measured, done.image.sizes.stack_bound_bytes) == []


def test_cases_from_python_need_no_state() -> None:
    found = golden("wake_word/v2_vad")
    case = Case(name="b", inputs=(found["b_x0"],), expected=(found["b_y0"],))
    codegen.run(model_path("wake_word/v2_vad"), Options(board="host"), cases={"v2_vad": [case]})
    wrong = Case(name="b", inputs=case.inputs, expected=(found["b_y0"] ^ 1,))
    with pytest.raises(CodegenError, match="E701"):
        codegen.run(model_path("wake_word/v2_vad"), Options(board="host"), cases={"v2_vad": [wrong]})


def test_a_sequence_from_python_keeps_state() -> None:
    """The recorded rows in order: row by row from fresh state most would differ."""
    found, path, options = golden("wake_word/v2_vad"), model_path("wake_word/v2_vad"), Options(board="host")
    pairs = zip(found["seq_x0"][:20], found["seq_y0"][:20], strict=True)
    cases = {"v2_vad": [Case(name=str(at), inputs=(x,), expected=(y,)) for at, (x, y) in enumerate(pairs)]}
    codegen.run(path, options, cases=cases, sequence=True)
    codegen.run(path, options, sequence=True)
    with pytest.raises(CodegenError, match="E701"):
        codegen.run(path, options, cases=cases)


def test_what_state_excludes() -> None:
    options = Options(board="host", io=IoMode.CALLER)
    with pytest.raises(CodegenError) as caught:
        plan_model(model_path("wake_word/v2_vad"), load_board("host"), options)
    assert (
        "error[E268] with --io caller no input or output is the model's own, state neither: "
        "stream_1/states, stream_2/states, stream_3/states, stream/states\nhelp: use --io pool"
    ) in str(caught.value)


def test_state_of_a_file_goes_with_sizes() -> None:
    """It was refused. Its bytes are at the same place whatever the sizes of a call are."""
    options = Options(board="host", dims=parsed(["input_audio.1=1..3"]))
    program = plan_model(model_path("wake_word/v2_vad"), load_board("host"), options).program
    assert program.ranges is not None
    olds = [old.value for old, _ in program.signature.state_tensors]
    buffers = {program.memory.slices[value].buffer for value in olds}
    assert len(buffers) == 4
    assert all(constant_of(program.ranges.buffers[each][0]) is not None for each in buffers)
