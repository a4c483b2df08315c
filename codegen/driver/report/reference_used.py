"""The reference that outputs were compared with, for report.json and in words."""

from dataclasses import dataclass
from typing import Literal

from codegen.errors import Message, counted

NUMPY_WORDS = "the NumPy reference"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceUsed:
    """What decided whether the outputs of a run are right."""

    kind: Literal["engine", "numpy", "expected"] = "numpy"
    engine: str = ""
    """Name and version of the engine that answered."""
    reason: str = ""
    """Why no engine decided; empty where one did, or where nobody wanted one."""
    advice: str = ""
    """How to get an engine."""
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
        """How a sentence calls it."""
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
        """What people read of it."""
        if self.kind == "engine" and self.values_compared is not None:
            return [
                f"import    {counted(self.values_compared, 'value')} compared with those of {self.engine}, "
                f"each step from the same arguments{self._rounding()}"
            ] + [f"          {each}: another engine rules, not judged" for each in self.unjudged]
        if self.kind == "numpy" and self.reason:
            lines = [f"reference ours, which cannot see a wrong import: {self.reason}"]
            return [*lines, f"          {self.advice}"] if self.advice else lines
        return []

    def _rounding(self) -> str:
        if not self.max_difference:
            return ""
        return f"; by rounding its outputs differ by up to {self.max_difference:g}"
