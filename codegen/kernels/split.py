"""Calls by groups of outputs, each of which reads its own run of bytes of a linked constant."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codegen.kernels.primfunc import CallArg


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """How a call can be made once for every group of outputs, in order, instead of once.

    The first call is the PrimFunc's own, further ones are `next_symbol(next_args...)`, for which the result
    is where the group's outputs go. Each reads, as constant `role`, only its group's bytes, all groups the
    same number. The parameter struct `struct` says in `field` how many outputs a call computes. A call
    reads arguments and writes results as the whole call does at that point, so that permitted overlaps stay.
    """

    role: str
    outputs: int
    """Of the whole call, each of one byte."""
    multiple: int
    """Outputs of a group are a multiple of this."""
    struct: str
    field: str
    next_symbol: str
    next_args: "tuple[CallArg, ...]"
    instructions: int
    """Predicted for each further call, on top of the whole call's."""

    def groups(self) -> tuple[int, ...]:
        """Possible sizes of a group, in outputs, the largest first: all of which make up the whole."""
        sizes = range(self.outputs - self.multiple, 0, -self.multiple)
        return tuple(size for size in sizes if self.outputs % size == 0)
