"""Child processes that run engines: one answers for as long as it refuses nothing.

To start one takes longer than most answers, so a process keeps its child for the next question.
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
from pathlib import Path

import numpy as np

Arrays = tuple[np.ndarray, ...]

ANSWER_LIMIT_SECONDS = 60.0
CHILD = Path(__file__).with_name("child.py")
"""The program that a child runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A model and the inputs of its cases.

    Every case starts from a fresh interpreter, unless `is_sequence`: then state is kept from case to case.
    """

    engine: str
    model: bytes
    inputs: tuple[Arrays, ...]
    is_sequence: bool = False
    feedback: tuple[tuple[int, int], ...] = ()
    """Pairs (output, input) of a sequence: the input of the next case takes the output's values."""
    wants_tensors: bool = False
    """True if the answer is to have every value of the last case."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineAnswer:
    """Outputs by case, or the `error`: the engine's refusal, its crash, or its silence."""

    outputs: tuple[Arrays, ...] = ()
    error: str = ""
    tensors: tuple[tuple[str, np.ndarray], ...] = ()
    """Every value of the last case with its name in the file; names need not be unique."""


class EngineError(Exception):
    """The child ended or kept silent; the text says which."""


def evaluate(
    python: Path,
    requests: Sequence[Request],
    *,
    limit_seconds: float | None = None,
    program: Path | None = None,
) -> list[EngineAnswer]:
    """One answer a request, in order. A crash or a timeout costs that request only."""
    answers: list[EngineAnswer] = []
    while len(answers) < len(requests):
        with answering(python, limit_seconds, program) as child:
            answers.extend(_answers(child, requests[len(answers) :]))
    return answers


def _answers(child: "EngineProcess", requests: Sequence[Request]) -> Iterator[EngineAnswer]:
    """Answers up to and including the first request that ends the child."""
    for request in requests:
        try:
            answer = child.ask(_packed(request))
        except EngineError as problem:
            yield EngineAnswer(error=str(problem))
            return
        if "error" in answer:
            yield EngineAnswer(error=str(answer["error"]))
        else:
            cases = range(len(request.inputs))
            outputs = tuple(_numbered(answer, f"{case}_y") for case in cases)
            names = map(str, _numbered(answer, "n"))
            tensors = tuple(zip(names, _numbered(answer, "t"), strict=True))
            yield EngineAnswer(outputs=outputs, tensors=tensors)


def _packed(request: Request) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {
        "engine": np.array(request.engine),
        "model": np.frombuffer(request.model, np.uint8),
        "cases": np.array(len(request.inputs)),
        **({"sequence": np.array(1)} if request.is_sequence else {}),
        **({"tensors": np.array(1)} if request.wants_tensors else {}),
        **({"feedback": np.array(request.feedback)} if request.feedback else {}),
    }
    for case, inputs in enumerate(request.inputs):
        arrays |= {f"{case}_x{index}": values for index, values in enumerate(inputs)}
    return arrays


def _numbered(answer: Mapping[str, np.ndarray], prefix: str) -> Arrays:
    """Arrays `prefix`0, `prefix`1, ... of an answer."""
    arrays: list[np.ndarray] = []
    while f"{prefix}{len(arrays)}" in answer:
        arrays.append(answer[f"{prefix}{len(arrays)}"])
    return tuple(arrays)


@contextmanager
def answering(
    python: Path, limit_seconds: float | None = None, program: Path | None = None
) -> Generator["EngineProcess"]:
    """A child that answers nobody else meanwhile: the one kept for next time, or a new one.

    Kept by this process for itself: a fork has other ends of the same pipes.
    """
    key = (os.getpid(), python, program or CHILD)
    child = _kept.pop(key, None) or EngineProcess(python, program or CHILD)
    child.limit_seconds = ANSWER_LIMIT_SECONDS if limit_seconds is None else limit_seconds
    try:
        yield child
    finally:
        if child.is_sound and key not in _kept:
            _kept[key] = child
        else:
            child.end()


_kept: dict[tuple[int, Path, Path], "EngineProcess"] = {}


@atexit.register
def _end_all() -> None:
    for (process, *_), child in _kept.items():
        if process == os.getpid():
            child.end()


class EngineProcess:
    """One child process and its pipes."""

    def __init__(self, python: Path, program: Path) -> None:
        self.limit_seconds = ANSWER_LIMIT_SECONDS
        self.is_sound = True
        """It neither refused a model nor ended nor kept silent."""
        self._running = subprocess.Popen(
            [str(python), "-I", str(program)],
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
        data = bytearray()
        while len(data) < count:
            ready, _, _ = select.select([answers], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise EngineError(f"no answer in {self.limit_seconds:g} s")
            part = os.read(answers.fileno(), min(count - len(data), 1 << 20))
            if not part:
                raise EngineError(self._ending())
            data += part
        return bytes(data)

    def _ending(self) -> str:
        code = self._running.wait()
        return f"the engine crashed with signal {-code}" if code < 0 else f"the engine ended with code {code}"
