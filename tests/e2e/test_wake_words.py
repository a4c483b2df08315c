"""Streaming wake words of the shared test data: sequences bit-exact to tflite-micro, in the planned bytes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import importers
from codegen.cli.case_files import model_cases
from codegen.driver.build import Built, build
from codegen.driver.inputs.cases import ArraySource, Case, sequence_cases
from codegen.driver.options import Options
from codegen.driver.report.single import Measured
from codegen.driver.run import complaints, execute
from codegen.ir import Module
from codegen.ir.ops import UserKernel
from codegen.program.image import Trace
from tests.testdata import golden, model_path

RAM_BYTES = {
    "v2_okay_nabu": 5_200,
    "v2_hey_jarvis": 4_400,
    "v2_vad": 2_000,
    "okay_nabu": 12_000,
    "v2_choo_choo_homie": 5_500,
}
"""The most that state and values may take together."""
ON_BOARDS = {
    "mps2-an386": ("okay_nabu", 106_000),
    "mps2-an385": ("v2_hey_jarvis", 102_000),
    "mps3-an547": ("v2_okay_nabu", 50_000),
    "mps2-an505": ("v2_vad", 30_000),
}
"""Board -> network, and the most instructions that a step of it may run."""


@pytest.fixture
def with_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outputs saturate: models show the argument of their last LOGISTIC as output 1."""
    load = importers.load

    def loaded(path: Path, kernels: Sequence[UserKernel] = ()) -> Module:
        module = load(path, kernels)
        function = module.main
        [logistic] = [let for let in function.body if let.call.op.name == "LOGISTIC"]
        logit = logistic.call.args[0]
        assert logit is not None
        first, *others = function.results
        states = [replace(each, result=each.result + 1) for each in function.states]
        shown = replace(function, results=(first, logit, *others), states=tuple(states))
        return replace(module, functions={function.name: shown})

    monkeypatch.setattr(importers, "load", loaded)


def _arrays(name: str, sequence: str, folder: Path, rows: int | None = None) -> Path:
    """What tflite-micro gave: inputs, outputs, the argument of the last LOGISTIC."""
    found = golden(f"wake_word/{name}")
    [logit] = [key for key in found if re.fullmatch(f"{sequence}_t[0-9]+", key)]
    path = folder / f"{sequence}.npz"
    keys = {"x0": f"{sequence}_x0", "y0": f"{sequence}_y0", "y1": logit}
    np.savez(path, **{key: found[name][:rows] for key, name in keys.items()})  # type: ignore[arg-type]
    return path


def _cases(done: Built, arrays: Path) -> list[Case]:
    source = ArraySource(path=arrays)
    return sequence_cases(done.models[0].program, source, source, 0)


def _checked(done: Built, given: Sequence[Case], trace: Trace = Trace.NONE) -> Measured:
    measured = execute(done, given, sequence=True, trace=trace)
    assert complaints(done.models[0], given, measured, done.image.sizes.stack_bound_bytes) == []
    return measured


def _built(name: str, board: str, folder: Path) -> Built:
    return build([model_path(f"wake_word/{name}")], Options(board=board), folder / "build", emulated=True)


@pytest.mark.usefixtures("with_logits")
@pytest.mark.parametrize("name", sorted(RAM_BYTES))
def test_sequences_are_as_tflite_micro_has_them(name: str, tmp_path: Path) -> None:
    """Outputs and logits against the goldens, state against NumPy; measured peaks are the planned ones."""
    done = _built(name, "host", tmp_path)
    for sequence in ("seq", "real"):
        given = _cases(done, _arrays(name, sequence, tmp_path))
        assert len(given) > 60
        _checked(done, given)
    program = done.models[0].program
    assert program.signature.states and not program.copied_states, "every window is shifted where it is"
    assert sum(pool.size_bytes for pool in done.bundle.pools) <= RAM_BYTES[name]


@pytest.mark.qemu
@pytest.mark.usefixtures("with_logits")
@pytest.mark.parametrize("board", sorted(ON_BOARDS))
def test_sequences_on_boards(board: str, tmp_path: Path) -> None:
    """One network a board, features of real audio; the others run there with `--long`."""
    name, most_instructions = ON_BOARDS[board]
    done = _built(name, board, tmp_path)
    given = _cases(done, _arrays(name, "real", tmp_path, 40))
    measured = _checked(done, given, Trace.COST)
    instructions = measured.result.cases[0].instructions
    assert instructions is not None and instructions <= most_instructions, instructions


@pytest.mark.long
@pytest.mark.usefixtures("with_logits")
@pytest.mark.parametrize("board", sorted(ON_BOARDS))
@pytest.mark.parametrize("name", sorted(RAM_BYTES))
def test_every_sequence_on_every_board(name: str, board: str, tmp_path: Path) -> None:
    done = _built(name, board, tmp_path)
    for sequence in ("seq", "real"):
        _checked(done, _cases(done, _arrays(name, sequence, tmp_path)))


@pytest.mark.parametrize("case", ["a", "b", "c"])
def test_a_single_inference_begins_with_fresh_state(case: str, tmp_path: Path) -> None:
    """As from a fresh interpreter: variables of which no array is given are as at the beginning."""
    done = _built("v2_vad", "host", tmp_path)
    source = ArraySource(path=tmp_path / "a.npz", prefix=case)
    np.savez(source.path, **golden("wake_word/v2_vad"))  # type: ignore[arg-type]
    [given] = model_cases(
        done, [model_path("wake_word/v2_vad")], {"v2_vad": source}, {"v2_vad": source}, Options()
    )
    measured = execute(done, given)
    assert complaints(done.models[0], given, measured, done.image.sizes.stack_bound_bytes) == []
