"""Reference engines for tests: those of `codegen.engines`, in the Python that has TFLite's.

    answers = evaluate([Request(engine="tflite-runtime", model=data, inputs=((x,),))])

The interpreter is `CODEGEN_ENGINE_PYTHON`, else `.venv-engines/bin/python` of the checkout. Its child also
answers what only tests ask: bytes of an arena, and how an engine reads a file.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from codegen import engines
from codegen.engines import (
    TFLITE_MICRO,
    TFLITE_RUNTIME,
    Arrays,
    EngineAnswer,
    EngineError,
    Request,
    checkout_python,
)
from codegen.engines.processes import ANSWER_LIMIT_SECONDS, answering

__all__ = [
    "TFLITE_MICRO",
    "TFLITE_RUNTIME",
    "Arrays",
    "EngineAnswer",
    "EngineError",
    "ReadOperator",
    "Request",
    "arena_head_bytes",
    "available",
    "evaluate",
    "interpreter",
    "read_operators",
]

_CHILD = Path(__file__).with_name("child.py")
_NONE = "no Python with reference engines: CODEGEN_ENGINE_PYTHON names none"


def interpreter() -> Path | None:
    """Python with the engines, or None where there is none. A named one that does not exist is an error."""
    named = os.environ.get("CODEGEN_ENGINE_PYTHON")
    if named:
        if not Path(named).exists():
            raise FileNotFoundError(f"CODEGEN_ENGINE_PYTHON names {named}, which does not exist")
        return Path(named)
    return checkout_python()


def _needed() -> Path:
    python = interpreter()
    if python is None:
        raise FileNotFoundError(_NONE)
    return python


@cache
def available() -> frozenset[str]:
    """Names of the engines that can be used here."""
    python = interpreter()
    return frozenset() if python is None else frozenset(engines.installed_engines(python))


def evaluate(
    requests: Sequence[Request], *, limit_seconds: float = ANSWER_LIMIT_SECONDS
) -> list[EngineAnswer]:
    """One answer a request, in order. A crash or a timeout costs that request only."""
    return engines.evaluate(_needed(), requests, limit_seconds=limit_seconds)


def arena_head_bytes(model: bytes) -> int:
    """Bytes of tflite-micro's arena that its memory plan takes; EngineError if it refuses the model."""
    with answering(_needed(), program=_CHILD) as child:
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
    with answering(_needed(), program=_CHILD) as child:
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
