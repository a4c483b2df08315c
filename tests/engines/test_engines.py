"""The child process that runs reference engines: results, refusals, crashes and silence."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from codegen.engines import processes
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from tests.engines import (
    TFLITE_MICRO,
    TFLITE_RUNTIME,
    EngineAnswer,
    Request,
    available,
    evaluate,
    interpreter,
)

needs_engines = pytest.mark.skipif(
    not {TFLITE_RUNTIME, TFLITE_MICRO} <= available(), reason="reference engines are not installed"
)

X = np.array([[-128, -5, 0, 127]], np.int8)


def relu() -> bytes:
    model = ModelBuilder()
    x = model.tensor("x", (1, 4), scale=0.5)
    y = model.tensor("y", (1, 4), scale=0.5)
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


@needs_engines
@pytest.mark.parametrize("engine", [TFLITE_RUNTIME, TFLITE_MICRO])
def test_an_engine_runs_every_case(engine: str) -> None:
    [answer] = evaluate([Request(engine=engine, model=relu(), inputs=((X,), (-X - 1,)))])
    assert not answer.error
    assert [case[0].tolist() for case in answer.outputs] == [[[0, 0, 0, 127]], [[127, 4, 0, 0]]]


@needs_engines
def test_a_refused_model_costs_no_other() -> None:
    model = ModelBuilder()
    x = model.tensor("x", (1, 4), scale=0.5)
    model.op("CUSTOM", [x], [x], custom=Custom(code="unheard_of"))
    models = (relu(), model.build(), relu())
    answers = evaluate([Request(engine=TFLITE_RUNTIME, model=m, inputs=((X,),)) for m in models])
    assert [bool(answer.error) for answer in answers] == [False, True, False]
    assert "unheard_of" in answers[1].error


@needs_engines
def test_a_model_that_crashes_the_engine_costs_no_other() -> None:
    """A file cut short: this engine reads past its end and dies of it."""
    models = (relu(), relu()[:64], relu())
    answers = evaluate([Request(engine=TFLITE_RUNTIME, model=m, inputs=((X,),)) for m in models])
    assert [bool(answer.error) for answer in answers] == [False, True, False]


def stand_in(folder: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a program of ours play the child: it sees the same pipes and can fail as it likes."""
    child = folder / "child.py"
    child.write_text(program)
    monkeypatch.setattr(processes, "CHILD", child)
    monkeypatch.setenv("CODEGEN_ENGINE_PYTHON", sys.executable)


FAILS_ON_MARKED = """
import io, os, signal, sys, time
import numpy as np
while len(header := sys.stdin.buffer.read(8)) == 8:
    with np.load(io.BytesIO(sys.stdin.buffer.read(int.from_bytes(header, "little")))) as request:
        model = request["model"].tobytes()
    if model == b"crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if model == b"leave":
        sys.exit(3)
    if model == b"sleep":
        time.sleep(60)
    packed = io.BytesIO()
    np.savez(packed, **{"0_y0": np.frombuffer(model, np.uint8)})
    sys.stdout.buffer.write(len(packed.getvalue()).to_bytes(8, "little") + packed.getvalue())
    sys.stdout.buffer.flush()
"""

TELLS_ITS_NUMBER = FAILS_ON_MARKED.replace(
    '{"0_y0": np.frombuffer(model, np.uint8)}',
    '{"error": np.array("no")} if model == b"refused" else {"0_y0": np.array([os.getpid()])}',
)


def test_a_crash_an_exit_and_silence_are_reported_and_the_next_model_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, FAILS_ON_MARKED, monkeypatch)
    models = [b"one", b"crash", b"two", b"leave", b"sleep", b"three"]
    answers = evaluate([Request(engine="any", model=m, inputs=((),)) for m in models], limit_seconds=2.0)
    assert [answer.error for answer in answers] == [
        "",
        "the engine crashed with signal 11",
        "",
        "the engine ended with code 3",
        "no answer in 2 s",
        "",
    ]
    assert [answer.outputs[0][0].tobytes() for answer in answers if not answer.error] == [
        b"one",
        b"two",
        b"three",
    ]
    assert answers[1] == EngineAnswer(error="the engine crashed with signal 11")


def test_a_named_interpreter_must_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEGEN_ENGINE_PYTHON", str(tmp_path / "python"))
    with pytest.raises(FileNotFoundError, match="CODEGEN_ENGINE_PYTHON names"):
        interpreter()


def test_a_sound_child_answers_the_next_call_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To start one took longer than most answers. One that refused or ended is not asked again."""
    stand_in(tmp_path, TELLS_ITS_NUMBER, monkeypatch)

    def number(*models: bytes) -> list[int]:
        answers = evaluate([Request(engine="any", model=m, inputs=((),)) for m in models])
        return [int(answer.outputs[0][0][0]) if not answer.error else 0 for answer in answers]

    [first] = number(b"one")
    assert number(b"two") == [first] and number(b"refused", b"three") == [0, first]
    [second] = number(b"four")
    assert second != first
    assert number(b"crash") == [0] and number(b"five") not in ([first], [second])


def test_a_fork_asks_a_child_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes at the ends of one pipe would take each other's answers."""
    stand_in(tmp_path, TELLS_ITS_NUMBER, monkeypatch)
    request = Request(engine="any", model=b"one", inputs=((),))

    def asked() -> bytes:
        return evaluate([request])[0].outputs[0][0].tobytes()

    ours = asked()
    end, begin = os.pipe()
    if os.fork() == 0:
        os.write(begin, asked())
        os._exit(0)
    os.wait()
    assert os.read(end, 100) != ours == asked()
