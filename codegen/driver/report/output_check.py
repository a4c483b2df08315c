"""Outputs against the reference, and which one it was.

Integers and float64 are equal, float32 agrees by max|d| <= 1e-5 * max|y|; of outputs that are bounded, as
probabilities are, by 1e-5 of their bound. float16 is rounded from such float32: a step of it more.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np

from codegen.errors import Message, counted
from codegen.ir import TensorType
from codegen.settings import FLOAT_TOLERANCE


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One output of one case. `differing` counts elements; `first` is the flat index of the first one."""

    matches: bool
    max_abs_difference: float
    differing: int
    first: int | None
    sha256: str
    """Hash of the measured bytes."""


def compare(
    measured: np.ndarray, expected: np.ndarray, tolerance: float = FLOAT_TOLERANCE, *, bound: float = 0.0
) -> Comparison:
    """Compare two arrays of equal shape and dtype; NaN equals NaN only at the same place.

    `tolerance`: of float32, relative to the largest, or to `bound` if that is larger. Raises ValueError if
    shapes or dtypes differ.
    """
    if measured.shape != expected.shape or measured.dtype != expected.dtype:
        raise ValueError(f"{measured.dtype}{measured.shape} against {expected.dtype}{expected.shape}")
    digest = hashlib.sha256(np.ascontiguousarray(measured).tobytes()).hexdigest()
    left, right = measured.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    # Integers of 64 bits as they are: beyond 2^53 a float64 holds not each of them.
    same = (measured == expected).ravel() | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(left - right))
    difference = np.where(np.isnan(difference), np.inf, difference)
    if measured.dtype.name in ("float16", "float32"):
        finite = np.abs(right[np.isfinite(right)])
        allowed = tolerance * float(finite.max(initial=bound))
        if measured.dtype == np.float16:
            allowed = allowed + np.spacing(np.abs(expected).ravel()).astype(np.float64)
        wrong = difference > allowed
    else:
        wrong = ~same
    indices = np.flatnonzero(wrong)
    return Comparison(
        matches=indices.size == 0,
        max_abs_difference=float(difference.max(initial=0.0)),
        differing=int(indices.size),
        first=int(indices[0]) if indices.size else None,
        sha256=digest,
    )


def array(data: bytes, type_: TensorType) -> np.ndarray:
    """Bytes from the target (little endian) as an array of `type_`."""
    return (
        np.frombuffer(data, dtype=type_.dtype.numpy.newbyteorder("<"))
        .astype(type_.dtype.numpy)
        .reshape(type_.shape)
    )


NUMPY_WORDS = "the NumPy reference"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceUsed:
    """The reference that decided whether the outputs of a run are right."""

    kind: Literal["engine", "numpy", "expected"] = "numpy"
    engine: str = ""
    """Name and version of the engine that answered."""
    reason: str = ""
    """Why no engine decided; empty where one did, or where nobody wanted one."""
    advice: str = ""
    """How to get an engine."""
    values_by: str = ""
    """The engine that showed its values: another one, where the one that answered keeps none."""
    values_compared: int | None = None
    """Values of the imported network that were compared with the engine's, step by step."""
    max_difference: float = 0.0
    """How far the engine's outputs are from ours by rounding, each step being as it should."""
    unjudged: tuple[str, ...] = ()
    """Operators for which another engine rules, so that this one cannot judge their steps."""
    faults: tuple[Message, ...] = ()
    """E704: steps of the imported network that are not the engine's."""

    @property
    def name(self) -> str:
        """The reference in words, as in "equal to WORDS"."""
        if self.max_difference:
            return NUMPY_WORDS  # from the engine's they differ by rounding, which is said below
        return {"engine": self.engine, "numpy": NUMPY_WORDS, "expected": "the expected outputs"}[self.kind]

    @property
    def document(self) -> dict[str, object]:
        """The `run.reference` object of report.json."""
        return {
            "kind": self.kind,
            "engine": self.engine or None,
            "reason": self.reason or None,
            "advice": self.advice or None,
            "values_compared": self.values_compared,
            "max_abs_difference": self.max_difference,
            "unjudged": list(self.unjudged),
        }

    def lines(self) -> list[str]:
        """Lines of the summary about the reference."""
        if self.kind == "engine" and self.values_compared is not None:
            values = counted(self.values_compared, "value")
            return [
                f"import    {values} compared with those of {self.values_by or self.engine}, "
                f"each step from the same arguments{self._rounding()}"
            ] + [f"          {operator}: another engine rules, not judged" for operator in self.unjudged]
        if self.kind == "numpy" and self.reason:
            lines = [f"reference ours, which cannot see a wrong import: {self.reason}"]
            return [*lines, f"          {self.advice}"] if self.advice else lines
        return []

    def _rounding(self) -> str:
        if not self.max_difference:
            return ""
        return f"; the outputs of {self.engine} differ by up to {self.max_difference:g}, by rounding"
