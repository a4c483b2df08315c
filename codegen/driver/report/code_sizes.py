"""Machine code and stack of each step: what its kernels call, read off the linked product."""

from collections.abc import Sequence

from codegen.kernels.primfunc import PrimFunc
from codegen.program.image import ElfSizes, FunctionCode


class CodeSizes:
    """Bytes of code of each step in `called`. Without `sizes` nothing is known."""

    def __init__(self, sizes: ElfSizes | None, called: Sequence[PrimFunc]) -> None:
        self._functions = sizes.functions if sizes else ()
        self._called = called

    def code_bytes(self, step: int) -> int | None:
        """Bytes of the step's kernels and of all they call, each function once; None if there are none."""
        called = {address for function in self._of(step) for address in function.reached}
        return (
            sum(function.size_bytes for function in self._functions if function.address in called)
            if called
            else None
        )

    def stack_bound_bytes(self, step: int) -> int | None:
        """The largest static bound of its kernels' call trees; None where one has none."""
        bounds = [function.stack_bound_bytes for function in self._of(step)]
        known = [bound for bound in bounds if bound is not None]
        return max(known) if known and len(known) == len(bounds) else None

    def _of(self, step: int) -> list[FunctionCode]:
        """Functions that a step calls. gcc renames a specialised one (`f.constprop.0`) and inlines others."""
        if not self._functions or not self._called:
            return []
        symbols = set(self._called[step].symbols)
        return [function for function in self._functions if function.name.split(".")[0] in symbols]
