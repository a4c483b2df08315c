"""Reference engines in a child process: they can crash on valid files, and need packages of their own.

    answers = evaluate([Request(engine="tflite-runtime", model=data, inputs=((x,),))])

The interpreter is `CODEGEN_ENGINES_PYTHON`, else `.venv-engines/bin/python` of the checkout. One child
answers for as long as it refuses nothing: to start it takes longer than most answers.
"""

import atexit
import io
import os
import select
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tests.checkout import ROOT

Arrays = tuple[np.ndarray, ...]

TFLITE_RUNTIME = "tflite-runtime"
TFLITE_MICRO = "tflite-micro"
ANSWER_LIMIT_SECONDS = 60.0

_CHECKOUT = ROOT
_CHILD = Path(__file__).with_name("child.py")


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A model and the inputs of each of its cases; every case starts from a fresh interpreter, unless
    `is_sequence`: then state is kept from case to case."""

    engine: str
    model: bytes
    inputs: tuple[Arrays, ...]
    is_sequence: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """Outputs by case, or the `error`: the engine's refusal, its crash, or its silence."""

    outputs: tuple[Arrays, ...] = ()
    error: str = ""


class EngineError(Exception):
    """The child ended or kept silent; the text says which."""


def interpreter() -> Path | None:
    """Python with the engines, or None where there is none. A named one that does not exist is an error."""
    named = os.environ.get("CODEGEN_ENGINES_PYTHON")
    if named:
        if not Path(named).exists():
            raise FileNotFoundError(f"CODEGEN_ENGINES_PYTHON names {named}, which does not exist")
        return Path(named)
    found = _CHECKOUT / ".venv-engines" / "bin" / "python"
    return found if found.exists() else None


@cache
def available() -> frozenset[str]:
    """Names of the engines that can be used here."""
    python = interpreter()
    if python is None:
        return frozenset()
    with _answering(python) as child:
        return frozenset(str(child.ask({})["engines"]).split(",")) - {""}


def evaluate(requests: Sequence[Request], *, limit_seconds: float = ANSWER_LIMIT_SECONDS) -> list[Answer]:
    """One answer a request, in order. A crash or a timeout costs that request only."""
    python = interpreter()
    if python is None:
        raise FileNotFoundError("no Python with reference engines: CODEGEN_ENGINES_PYTHON names none")
    answers: list[Answer] = []
    while len(answers) < len(requests):
        with _answering(python, limit_seconds) as child:
            answers.extend(_answers(child, requests[len(answers) :]))
    return answers


def arena_head_bytes(model: bytes) -> int:
    """Bytes of tflite-micro's arena that its memory plan takes; EngineError if it refuses the model."""
    python = interpreter()
    if python is None:
        raise FileNotFoundError("no Python with reference engines: CODEGEN_ENGINES_PYTHON names none")
    with _answering(python) as child:
        answer = child.ask({"model": np.frombuffer(model, np.uint8), "arena": np.array(1)})
    if "error" in answer:
        raise EngineError(str(answer["error"]))
    return int(answer["head"])


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOperator:
    """An operator as tflite-runtime reads it; a custom one's name is its own."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def read_operators(models: Sequence[bytes]) -> list[tuple[ReadOperator, ...] | None]:
    """How tflite-runtime reads each file's first subgraph; None for a file that it refuses."""
    python = interpreter()
    if python is None:
        raise FileNotFoundError("no Python with reference engines: CODEGEN_ENGINES_PYTHON names none")
    with _answering(python) as child:
        answers = [
            child.ask({"model": np.frombuffer(model, np.uint8), "operators": np.array(1)}) for model in models
        ]
    return [None if "error" in answer else _read_operators(answer) for answer in answers]


def _read_operators(answer: Mapping[str, np.ndarray]) -> tuple[ReadOperator, ...]:
    return tuple(
        ReadOperator(
            name=str(answer[f"name{index}"]),
            inputs=tuple(answer[f"inputs{index}"].tolist()),
            outputs=tuple(answer[f"outputs{index}"].tolist()),
        )
        for index in range(len(answer) // 3)
    )


def _answers(child: "_Child", requests: Sequence[Request]) -> Iterator[Answer]:
    """Answers up to and including the first request that ends the child."""
    for request in requests:
        arrays: dict[str, np.ndarray] = {
            "engine": np.array(request.engine),
            "model": np.frombuffer(request.model, np.uint8),
            "cases": np.array(len(request.inputs)),
            **({"sequence": np.array(1)} if request.is_sequence else {}),
        }
        for case, inputs in enumerate(request.inputs):
            arrays |= {f"{case}_x{index}": values for index, values in enumerate(inputs)}
        try:
            answer = child.ask(arrays)
        except EngineError as problem:
            yield Answer(error=str(problem))
            return
        if "error" in answer:
            yield Answer(error=str(answer["error"]))
        else:
            yield Answer(outputs=tuple(_outputs(answer, case) for case in range(len(request.inputs))))


def _outputs(answer: Mapping[str, np.ndarray], case: int) -> Arrays:
    count = sum(key.startswith(f"{case}_y") for key in answer)
    return tuple(answer[f"{case}_y{index}"] for index in range(count))


@contextmanager
def _answering(python: Path, limit_seconds: float = ANSWER_LIMIT_SECONDS) -> Generator["_Child"]:
    """A child that answers nobody else meanwhile: the one kept for next time, or a new one.

    Kept by this process for itself: a fork has other ends of the same pipes.
    """
    key = (os.getpid(), python, _CHILD)
    child = _kept.pop(key, None) or _Child(python)
    child.limit_seconds = limit_seconds
    try:
        yield child
    finally:
        if child.is_sound:
            _kept[key] = child
        else:
            child.end()


_kept: dict[tuple[int, Path, Path], "_Child"] = {}


@atexit.register
def _end_all() -> None:
    for (owner, *_), child in _kept.items():
        if owner == os.getpid():
            child.end()


class _Child:
    """One child process and its pipes."""

    def __init__(self, python: Path) -> None:
        self.limit_seconds = ANSWER_LIMIT_SECONDS
        self.is_sound = True
        """It neither refused a model nor ended nor kept silent."""
        self._running = subprocess.Popen(
            [str(python), "-I", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def end(self) -> None:
        """Kill it: it holds nothing worth saving."""
        self._running.kill()
        self._running.communicate()

    def ask(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Send a request, return the answer's arrays; raises EngineError when the child ends or is late."""
        was_sound, self.is_sound = self.is_sound, False
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, **arrays)
        requests = self._running.stdin
        assert requests is not None
        try:
            requests.write(len(packed.getvalue()).to_bytes(8, "little") + packed.getvalue())
            requests.flush()
        except BrokenPipeError:
            raise EngineError(self._ending()) from None
        deadline = time.monotonic() + self.limit_seconds
        length = int.from_bytes(self._read(8, deadline), "little")
        with np.load(io.BytesIO(self._read(length, deadline))) as answer:
            arrays = {name: answer[name] for name in answer.files}
        self.is_sound = was_sound and "error" not in arrays
        return arrays

    def _read(self, count: int, deadline: float) -> bytes:
        answers = self._running.stdout
        assert answers is not None
        data = b""
        while len(data) < count:
            ready, _, _ = select.select([answers], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise EngineError(f"no answer in {self.limit_seconds:g} s")
            part = os.read(answers.fileno(), count - len(data))
            if not part:
                raise EngineError(self._ending())
            data += part
        return data

    def _ending(self) -> str:
        code = self._running.wait()
        return f"the engine crashed with signal {-code}" if code < 0 else f"the engine ended with code {code}"
