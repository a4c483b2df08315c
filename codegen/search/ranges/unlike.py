"""What keeps sizes from being one program."""

from codegen.ir.ranged import Unlike
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import step_key

REVERSE = "_reverse"
"""What the name of a kernel that runs backwards ends with."""


class KernelUnlike(Unlike):
    """The same, for the reason `kernel`: (step, kernel). Another kernel may do."""

    def __init__(self, text: str, kernel: tuple[str, str]) -> None:
        super().__init__(text)
        self.kernel = kernel


def unlike(prim: PrimFunc, text: str) -> KernelUnlike:
    """What `prim`'s kernel does otherwise at some sizes."""
    return KernelUnlike(f"{prim.let.where}: {text}", (step_key(prim.let), prim.kernel.removesuffix(REVERSE)))
