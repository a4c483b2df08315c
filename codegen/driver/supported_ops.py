"""Operators that model files may have, with the kernels that run them."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.errors import CodegenError
from codegen.importers import CONTROL_OPS, STATE_OPS, function_types, imported_ops, node_types
from codegen.kernels import kernels_for

_PLAIN_TWIN = {"CAST": "PLAIN_CONVERT"}
"""Operator of a file -> the operator of plain numbers that some of its nodes become."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SupportedOp:
    """An operator of `.tflite` files."""

    name: str
    imported_as: str | None
    """The operator of the IR; None where the importer resolves it."""
    kernels: Sequence[str]

    @property
    def note(self) -> str:
        """Text in front of the kernels: the operator that they are for, or the reason why there are none."""
        if self.imported_as is not None:
            return "" if self.imported_as == self.name else f"as {self.imported_as}: "
        if self.name in CONTROL_OPS:
            return "unrolled, or a function that is rendered"
        is_state = self.name in STATE_OPS
        return "none: state" if is_state else "none: folded, where it follows from shapes and constants"


def supported_ops() -> tuple[SupportedOp, ...]:
    """All operators of `.tflite` files that are imported."""
    return tuple(
        SupportedOp(
            name=name,
            imported_as=op,
            kernels=[
                kernel.name for ir_op in (op, _PLAIN_TWIN.get(name)) for kernel in kernels_for(ir_op or "")
            ],
        )
        for name, op in imported_ops().items()
    )


def onnx_node_types() -> Sequence[str]:
    """ONNX node types that are imported."""
    return node_types()


def onnx_functions() -> tuple[Sequence[str], str]:
    """ONNX node types imported by ONNX's own functions, or none and the reason why they are unknown here."""
    try:
        return function_types(), ""
    except CodegenError as error:
        return (), error.messages[0].text
