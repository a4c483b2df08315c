"""BATCH_MATMUL in portable C, and what kernels of instruction sets add to it."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.ir import DType, Let, Target, Var
from codegen.ir.ops import BatchMatMulAttrs, OnnxRounding
from codegen.ir.ops.base.fixed_point import reduced_multiplier
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import fully_connected_multipliers
from codegen.kernels.base.c_kernel import ConstantData, FastKernel, Parts, arg_type, pair_parts
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, axes, dense_strides, params
from codegen.kernels.call import RESULT, CStruct, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.portable.pairwise import FamilyKernel
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.core_family import KernelSet


class BatchMatMul(FamilyKernel):
    """BATCH_MATMUL on int8, int16 or float32."""

    def __init__(self, dtype: DType) -> None:
        super().__init__("BATCH_MATMUL", "batch_matmul", dtype)

    def check(self, let: Let) -> None:
        """Refuse more than five broadcast axes, and a multiplier out of range."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        return pair_parts(let, constants, self.numbers(let))

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct."""
        is_float = let.var.type.dtype is DType.FLOAT32
        return params("cg_matmul_params_f32" if is_float else "cg_matmul_params", *self.fields(let))

    def sizes(self, let: Let) -> dict[str, int]:
        """Extents and steps by name. Steps follow the attributes: nothing is transposed."""
        both, result = narrow(let.call.attrs, BatchMatMulAttrs), let.var.type
        first, second = arg_type(let, 0), arg_type(let, 1)
        lhs, rhs = (first.shape[-1], 1), (second.shape[-1], 1)
        return {
            "rows": result.shape[-2],
            "columns": result.shape[-1],
            "depth": first.shape[-2] if both.adj_x else first.shape[-1],
            "lhs_row": lhs[1] if both.adj_x else lhs[0],
            "lhs_next": lhs[0] if both.adj_x else lhs[1],
            "rhs_column": rhs[0] if both.adj_y else rhs[1],
            "rhs_next": rhs[1] if both.adj_y else rhs[0],
        }

    def fields(self, let: Let) -> Fields:
        """Fields of the struct; the last two scale sums of integers."""
        result, first, second = let.var.type, arg_type(let, 0), arg_type(let, 1)
        outer = result.shape[:-2]
        walked: Fields = (
            ("extent", axes(outer, 1)),
            ("lhs_step", axes(_batch_steps(first.shape, outer), 0)),
            ("rhs_step", axes(_batch_steps(second.shape, outer), 0)),
            *self.sizes(let).items(),
        )
        if result.dtype is DType.FLOAT32:
            return walked
        return (
            *walked,
            ("lhs_zero", first.zero_point),
            ("rhs_zero", second.zero_point),
            ("out_zero", result.zero_point),
            *self.scale_fields(let),
        )

    def scale_fields(self, let: Let) -> Fields:
        """`multiplier` and `shift` of sums of integers."""
        multiplier, shift = self.scale(let)
        return (("multiplier", multiplier), ("shift", shift))

    def scale(self, let: Let) -> tuple[int, int]:
        """Multiplier and shift of sums of integers."""
        first, second, result = arg_type(let, 0), arg_type(let, 1), let.var.type
        multipliers, shifts = fully_connected_multipliers(first.scale, [second.scale], result.scale)
        if result.dtype is DType.INT16:  # sums of 64 bits
            multipliers, shifts = reduced_multiplier(multipliers), 15 - shifts
        return int(multipliers[0]), int(shifts[0])


def _batch_steps(shape: Sequence[int], outer: Sequence[int]) -> list[int]:
    """Elements that each outer axis of the result moves in an argument of `shape`."""
    full = (1,) * (len(outer) + 2 - len(shape)) + tuple(shape)
    strides = dense_strides(full)[:-2]
    return [0 if extent == 1 else step for extent, step in zip(full[:-2], strides, strict=True)]


BATCH_MATMUL_S8 = BatchMatMul(DType.INT8)


class FastMatMul(FastKernel):
    """BATCH_MATMUL on int8, `cg_batch_matmul_s8_<folder>`, with a workspace. Its C is
    `batch_matmul_s8_<folder>.c`; rounded as ONNX does it has `qlinear_` in front."""

    op, takes_constants = BATCH_MATMUL_S8.op, True

    def __init__(self, kernel_set: KernelSet, portable: BatchMatMul = BATCH_MATMUL_S8) -> None:
        self.kernel_set, self.portable, self.rounding = kernel_set, portable, portable.rounding
        self.sums = portable
        self.name = f"{portable.stem}_{kernel_set.folder}"

    @property
    def rounds_even(self) -> bool:
        """True if sums are rounded as ONNX does."""
        return self.rounding is OnnxRounding

    @property
    def parts(self) -> tuple[str, ...]:
        """The files of its assembly."""
        return (f"batch_matmul_parts_s8_{self.kernel_set.folder}.S",)

    @property
    def rows_file(self) -> str:
        """The file of two rows by all columns, where it is there for both kinds of rounding."""
        return f"batch_matmul_rows_{'even_' if self.rounds_even else ''}s8_{self.kernel_set.folder}.S"

    @abstractmethod
    def workspace_bytes(self, let: Let) -> int:
        """Workspace of one pair of matrices."""

    @abstractmethod
    def predicted(self, sizes: Mapping[str, int]) -> int:
        """Instructions of one pair of matrices."""

    def scale_fields(self, let: Let) -> Fields:
        """`multiplier` and `shift`, as the kernel takes them."""
        return self.sums.scale_fields(let)

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse two constants, which are folded, then what a fast kernel refuses."""
        if not any(isinstance(arg, Var) for arg in let.call.args):
            return "both arguments are constants"
        return super().refusal(let, target)

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        prim = self.portable.bind(let, constants, name)
        numbers, lhs, rhs = prim.call_args[:3]
        sizes, folder = BATCH_MATMUL_S8.sizes(let), self.kernel_set.folder
        fields = (*self.sums.fields(let)[:-2], *self.scale_fields(let))
        space = Workspace(
            name="factors", size_bytes=self.workspace_bytes(let), reads=sizes["rows"] / 2, writes=1.0
        )
        return replace(
            prim,
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=(f"kernels/{folder}/{self.name}.c", *(f"kernels/{folder}/{part}" for part in self.parts)),
            headers=(f"cg_matmul_{folder}.h",),
            argument_alignment=4,
            workspaces=(space,),
            constants=tuple(replace(constant, alignment=4) for constant in prim.constants),
            structs=(params("cg_matmul_params", *fields),),
            call_args=(numbers, lhs, rhs, WorkspaceArg(name=space.name), RESULT),
            instructions=_AROUND + math.prod(let.var.type.shape[:-2]) * self.predicted(sizes),
        )


_AROUND = 100
"""Instructions of C around all pairs of matrices."""

register(BATCH_MATMUL_S8)
for _dtype in (DType.INT16, DType.FLOAT32):
    register(BatchMatMul(_dtype))
