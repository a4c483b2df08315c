"""The file that a model came from, as it is read again to be compared with another engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codegen import importers
from codegen.driver.inputs.dims import Dims
from codegen.importers.graph_inputs import NO_EXTENTS, FixedInput
from codegen.importers.limits import STATED, ByteLimits
from codegen.ir.ops import UserKernel


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFile:
    """A model file and how it was imported."""

    path: Path
    kernels: Sequence[UserKernel] = ()
    limits: ByteLimits = STATED
    dims: Dims | None = None
    extents: importers.Extents = field(default_factory=lambda: NO_EXTENTS)
    """Extents of graph inputs, where they are others than the file's."""
    fixes: Sequence[FixedInput] = ()
    """Graph inputs that are constants."""
    has_other_edges: bool = False
    """True if inputs and outputs may have other types or layouts than the file's."""

    def data(self) -> bytes:
        """The file's bytes, constants beside it brought in. Raises CodegenError as `importers.load` does."""
        return importers.model_bytes(self.path, self.limits, self.fixes)

    def imported(self) -> importers.Imported:
        """The module before any pass, with the tensors of the file. Raises as `data` does."""
        return importers.load_with_tensors(self.path, self.kernels, self.extents, self.limits, self.fixes)

    def at(self, values: Mapping[str, int]) -> "ModelFile":
        """The file at certain sizes."""
        return self if self.dims is None else replace(self, extents=self.dims.extents(values))
