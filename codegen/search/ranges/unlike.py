"""What keeps sizes from being one program."""

from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import step_key

REVERSE = "_reverse"
"""What the name of a kernel that runs backwards ends with."""


class Unlike(ValueError):
    """The program at some sizes has another structure than at the largest; says at which step and why.

    `kernel`: (step, kernel) that is the reason, where another kernel may do.
    """

    def __init__(self, text: str, kernel: tuple[str, str] | None = None) -> None:
        super().__init__(text)
        self.kernel = kernel


def unlike(prim: PrimFunc, text: str) -> Unlike:
    """What `prim`'s kernel does otherwise at some sizes."""
    return Unlike(f"{prim.let.where}: {text}", (step_key(prim.let), prim.kernel.removesuffix(REVERSE)))
