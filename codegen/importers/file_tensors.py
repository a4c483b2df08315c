"""Values of an imported module by the names that the file calls them: how both are compared.

An engine gives a value as the file means it; the module may hold it with other axes first, and unsigned
integers as signed ones.
"""

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from codegen.ir import Module, TensorType


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedTensor:
    """A tensor of the file and the variable of the module that holds it."""

    name: str
    """Printable, as messages call it."""
    var: str
    axes: tuple[int, ...]
    """Axis i of the tensor is axis `axes[i]` of the variable."""

    def held(self, data: np.ndarray, type_: TensorType) -> np.ndarray | None:
        """The tensor's `data` as a variable of this type holds it; None if it is something else."""
        if data.ndim != len(self.axes):
            return None
        stored = np.transpose(data, sorted(range(data.ndim), key=lambda axis: self.axes[axis]))
        if stored.shape != tuple(int(extent) for extent in type_.shape):
            return None
        dtype = np.dtype(type_.dtype.numpy)
        if stored.dtype.kind == "u" and dtype.kind == "i" and stored.dtype.itemsize == dtype.itemsize:
            half = 1 << (8 * dtype.itemsize - 1)
            return (stored.astype(np.int64) - half).astype(dtype)
        return np.array(stored, order="C") if stored.dtype == dtype else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """A module with the tensors of its file; of several names of one variable the last is what it holds."""

    module: Module
    tensors: tuple[NamedTensor, ...]

    def by_variable(self, names: Container[str]) -> dict[str, NamedTensor]:
        """Variable -> its tensor, of those that `names` has."""
        return {tensor.var: tensor for tensor in self.tensors if tensor.name in names}


def tensors_by_origin(module: Module) -> tuple[NamedTensor, ...]:
    """The tensors of a file whose axes are stored as they are: each variable says where it comes from."""
    by_name = {let.var.origin: let.var for let in module.main.body if let.var.origin}
    return tuple(
        NamedTensor(name=name, var=var.name, axes=tuple(range(len(var.type.shape))))
        for name, var in by_name.items()
    )
