"""Kernels that are there twice: rounded as TFLite does, and as ONNX does, on cores with float Helium."""

from dataclasses import dataclass

from codegen.kernels.base.weighted import WeightedOperator
from codegen.targets.arm import MVE, ROUNDING_MVE
from codegen.targets.core_family import KernelSet


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundingForm:
    """One of the two forms of rounding: names of its functions and files."""

    kernel_set: KernelSet
    prefix: str = ""
    """Prefix in the names of C functions and their files."""
    loop: str = ""
    """Part of the names of loops in assembly."""

    def symbol(self, stem: str) -> str:
        """Name of the C function of `stem`."""
        return f"cg_{self.prefix}{stem}_s8_mve"

    def sources(self, stem: str, loop: str) -> tuple[str, ...]:
        """The file of function `stem` and that of its loop."""
        return f"kernels/mve/{self.prefix}{stem}_s8_mve.c", f"kernels/mve/{loop}_{self.loop}s8_mve.S"


_AS_TFLITE = RoundingForm(kernel_set=MVE)
_EVEN = RoundingForm(kernel_set=ROUNDING_MVE, prefix="qlinear_", loop="even_")


def form_of(operator: WeightedOperator) -> RoundingForm:
    """The form that rounds as an operator does."""
    return _EVEN if operator.rounds_even else _AS_TFLITE
