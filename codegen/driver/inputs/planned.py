"""A model after search, as the stages of the driver hand it on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codegen import passes
from codegen.driver.inputs.model_file import ModelFile
from codegen.ir import Module
from codegen.passes.sliding import Sliding
from codegen.program.program import Program


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """A model after search: the rewritten module that was searched, and its program."""

    module: Module
    program: Program
    macs: int
    """Multiply-accumulates of the file's graph, before any pass."""
    reduction: passes.Reduction | None = None
    """Channels and constants that were removed to make `module`; None if the reduction was turned off."""
    at: Callable[[Mapping[str, int]], Module] | None = None
    """The file's module at any sizes; None where all are fixed."""
    file: ModelFile | None = None
    """The file that the module was read from; None for a module without one."""

    sliding: Sliding | None = None
    """Account of an input that slides (`--window`); None without one."""

    @property
    def own_macs(self) -> int:
        """Multiply-accumulates of `module`, each layer once."""
        return macs_of(self.module)

    @property
    def reference(self) -> Module:
        """The module before reduction: outputs are compared with it, so that the reduction is checked too."""
        if self.sliding is not None:
            return self.module
        return self.module if self.reduction is None else self.reduction.original


def macs_of(module: Module) -> int:
    """Multiply-accumulates of a module, each layer once."""
    return sum(let.macs for let in module.main.body)
