"""A model that is refused, with the steps that lead there."""

from collections.abc import Collection, Iterable, Sequence

from codegen.errors import CodegenError, Message
from codegen.ir.function import Let, Var


class ModelRefused(CodegenError):
    """A model file that cannot be imported.

    `params` and `steps`: what the first operator that was refused reads, and what that follows from.
    """

    def __init__(
        self, messages: Iterable[Message], params: Sequence[Var], steps: Sequence[Let], reads: Collection[str]
    ) -> None:
        """`params` and `steps`: all that there were by then; `reads`: names of what the operator reads."""
        super().__init__(messages)
        needed, chain = set(reads), list[Let]()
        for let in reversed(steps):
            if let.var.name in needed:
                needed.update(arg.name for arg in let.call.args if isinstance(arg, Var))
                chain.append(let)
        self.params = tuple(param for param in params if param.name in needed)
        self.steps = tuple(reversed(chain))
