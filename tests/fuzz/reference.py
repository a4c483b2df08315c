"""What the reference engines give for drawn layers: recorded digests, and asking them again.

NumPy's result is what kernels are compared with on the target; here it is compared with TFLite's own
engines, which know nothing of this project. `engines.npz` holds, for every layer that the suite draws, four
bytes of the SHA-256 of the engine's answer, so that the comparison needs no engine; a layer that is not
there, or whose operator NumPy and an engine round differently (`APPROXIMATE`), is put to the engine there and
then.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from codegen.driver.report.output_check import FLOAT_TOLERANCE
from codegen.ir import DType
from tests.engines import available, evaluate
from tests.fuzz.models import asked, engine_for
from tests.kernels.layers import Layer

RECORD = Path(__file__).with_name("engines.npz")
APPROXIMATE = frozenset(
    {"MEAN", "SUM", "SOFTMAX", "LOG_SOFTMAX", "LOGISTIC", "TANH", "COS", "ELU", "EXP", "GELU", "LOG", "SIN"}
)
"""Operators whose float32 results depend on the order of a sum or on the C library's functions."""
_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Name:
    """What `tests.fuzz.layers.drawn` draws a layer from."""

    op: str
    dtype: str
    seed: int

    def __str__(self) -> str:
        return f"{self.op}:{self.dtype}:{self.seed}"

    @property
    def is_exact(self) -> bool:
        """Whether every bit is the same in NumPy and in the engine."""
        return self.op not in APPROXIMATE or self.dtype != DType.FLOAT32.value


def digest(result: np.ndarray) -> int:
    """Four bytes of the SHA-256 of type, shape and elements."""
    text = f"{result.dtype} {result.shape} ".encode() + np.ascontiguousarray(result).tobytes()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "little")


def write(digests: Mapping[Name, int], path: Path = RECORD) -> None:
    """Store digests by operator and type: seeds, ascending, and their digests."""
    arrays: dict[str, np.ndarray] = {}
    for op, dtype in sorted({(name.op, name.dtype) for name in digests}):
        names = sorted(name for name in digests if (name.op, name.dtype) == (op, dtype))
        arrays[f"{op}:{dtype}:seeds"] = np.array([name.seed for name in names], np.uint16)
        arrays[f"{op}:{dtype}:digests"] = np.array([digests[name] for name in names], np.uint32)
    np.savez_compressed(path, allow_pickle=False, **arrays)


@cache
def read(path: Path = RECORD) -> Mapping[Name, int]:
    """Digests by layer, as `write` stored them."""
    found: dict[Name, int] = {}
    with np.load(path) as archive:
        for key in archive.files:
            op, dtype, what = key.split(":")
            if what == "seeds":
                pairs = zip(archive[key], archive[f"{op}:{dtype}:digests"], strict=True)
                found |= {Name(op=op, dtype=dtype, seed=int(seed)): int(sum_) for seed, sum_ in pairs}
    return found


def ask(layers: Sequence[Layer]) -> list[np.ndarray | str]:
    """The ruling engine's result of each layer, or why it has none; FileNotFoundError without engines."""
    results: list[np.ndarray | str] = []
    for start in range(0, len(layers), _AT_ONCE):
        questions = [asked(layer) for layer in layers[start : start + _AT_ONCE]]
        answers = evaluate([question.request for question in questions])
        for question, answer in zip(questions, answers, strict=True):
            results.append(answer.error if answer.error else question.joined(answer.outputs[0]))
    return results


def difference(name: Name, layer: Layer, answer: np.ndarray | str, expected: np.ndarray) -> str:
    """What is wrong between the engine's result and NumPy's, `expected`, or nothing.

    Sums in another order differ by their terms' rounding, however small a result is (Higham, Accuracy and
    Stability of Numerical Algorithms, 4.2): where it is smaller, the mean term counts.
    """
    if isinstance(answer, str):
        return f"{name}: the engine refuses the layer: {answer}"
    if (answer.dtype, answer.shape) != (expected.dtype, expected.shape):
        return f"{name}: the engine gives {answer.dtype}{answer.shape}, not {expected.dtype}{expected.shape}"
    if name.is_exact:
        return "" if digest(answer) == digest(expected) else f"{name}: NumPy's result is not the engine's"
    term = (
        np.abs(layer.values[0]).mean() if name.op in ("MEAN", "SUM") and layer.values[0] is not None else 0.0
    )
    limit = FLOAT_TOLERANCE * max(float(np.abs(answer).max(initial=0)), float(term))
    distance = float(np.abs(answer - expected).max(initial=0))
    return "" if distance <= limit else f"{name}: the engine is {distance:g} away, more than {limit:g}"


class Reference:
    """Compares layers with what is recorded, and puts those that are not recorded to the engines."""

    def __init__(self, recorded: Mapping[Name, int] | None = None, *, live: bool = False) -> None:
        """`recorded`: digests by layer, as `read` gives them (default: none); `live`: ask for all of them."""
        self._recorded = {} if live or recorded is None else recorded
        self._seen: set[Name] = set()
        self._open: dict[Name, tuple[Layer, np.ndarray]] = {}
        self._wrong: list[str] = []
        self.compared = 0
        """Layers that were compared with an engine's result."""
        self.unasked = 0
        """Layers that are not recorded and could not be put to an engine here."""

    def check(self, name: Name, layer: Layer, expected: np.ndarray) -> None:
        """Compare NumPy's result `expected` of a layer, once however often it is given."""
        if name in self._seen:
            return
        self._seen.add(name)
        if name.is_exact and name in self._recorded:
            self.compared += 1
            if digest(expected) != self._recorded[name]:
                self._wrong.append(
                    f"{name}: NumPy's result is not what the engine gave; "
                    "if layers are drawn differently now, record anew: python -m tests.fuzz.record"
                )
        else:
            self._open[name] = (layer, expected)

    def finish(self) -> list[str]:
        """Ask for what is open; a line for every layer with a difference. An engine that is not installed is
        not asked: there are machines with one of the two."""
        here = {name: pair for name, pair in self._open.items() if engine_for(pair[0]) in available()}
        self.unasked += len(self._open) - len(here)
        answers = ask([layer for layer, _ in here.values()]) if here else []
        for (name, (layer, expected)), answer in zip(here.items(), answers, strict=True):
            self.compared += 1
            self._wrong += [text] if (text := difference(name, layer, answer, expected)) else []
        self._open.clear()
        return self._wrong
