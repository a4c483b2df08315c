"""Operators on two int8 arguments of which one is a constant: a table of 256 results, or one a channel."""

import dataclasses

import numpy as np

from codegen.ir import DType, Let, TensorType, Var
from codegen.ir.ops.pairwise import COMPARISONS
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.block import RowKernel
from codegen.kernels.call import RESULT, ConstantArg, LiteralArg, ValueArg
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.portable.tables.unary import CALL, EACH, TABLE_LEN, every_byte

MOST_CHANNELS = 4
"""Channels with a table each, at most: 1 KiB. The pixels of a picture have three or four."""

PIXEL, CHANNEL = 7, 6
"""Instructions of the C loops by channel."""


class PairTable(PortableKernel):
    """An operator whose constant is a number (`lut_s8`) or a number a channel (`lut_channels_s8`)."""

    argument = DType.INT8

    def __init__(self, op: str, result: DType, *, by_channel: bool) -> None:
        self.op, self.result, self.by_channel = op, result, by_channel
        self.stem = "lut_channels_s8" if by_channel else "lut_s8"
        self.name = f"{op.lower()}_s8_{'channel_tables' if by_channel else 'constant_table'}"

    def check(self, let: Let) -> None:
        """Need one computed argument as large as the result, and one constant that repeats along all other
        axes."""
        value, constant = self._places(let)
        constant_type, shape = arg_type(let, constant), let.var.type.shape
        channels = shape[-1] if self.by_channel and shape else 1
        if arg_type(let, value).shape != shape or constant_type.elements != channels:
            raise ValueError(f"the kernel {self.name} is for a constant of {channels} elements")
        if self.by_channel and (not 1 < channels <= MOST_CHANNELS or constant_type.shape[-1] != channels):
            raise ValueError(f"the kernel {self.name} is for a constant of 2 to {MOST_CHANNELS} channels")

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, constant = self._places(let)
        elements, channels = let.var.type.elements, arg_type(let, constant).elements
        table = LinkedConstant(
            role="table",
            is_plain=True,
            data=self._table(let, constants),
            alignment=1,
            reads=elements / (TABLE_LEN * channels),
            layout="by channel, results for arguments 0 to 127, then -128 to -1",
        )
        leading = (LiteralArg(value=channels),) if self.by_channel else ()
        return Parts(
            call_args=(
                ConstantArg(role="table"),
                *leading,
                ValueArg(index=value),
                RESULT,
                LiteralArg(value=elements),
            ),
            constants=(table,),
            sharing=in_place(let, value),
            instructions=self._instructions(elements, channels),
            rows=self._rows(let),
        )

    def _instructions(self, elements: int, channels: int) -> int:
        if not self.by_channel:
            return CALL + EACH * elements
        return CALL + PIXEL * (elements // channels) + CHANNEL * elements

    def _rows(self, let: Let) -> RowKernel | None:
        """Row kernel of a table for all channels. By channel there is none: a run may begin within a
        pixel."""
        result = let.var.type
        is_image = len(result.shape) == 4 and result.dtype is DType.INT8
        return RowKernel(symbol=self.symbol) if is_image and not self.by_channel else None

    @staticmethod
    def _places(let: Let) -> tuple[int, int]:
        """Argument numbers of the value and of the constant; raises ValueError if there are not both."""
        computed = [index for index, arg in enumerate(let.call.args) if isinstance(arg, Var)]
        if len(let.call.args) != 2 or len(computed) != 1:
            raise ValueError("a table is for one computed argument and one constant")
        return computed[0], 1 - computed[0]

    def _table(self, let: Let, constants: ConstantData) -> np.ndarray:
        """Results [channels, 256], flat, as the operator's reference evaluates them."""
        value, constant = self._places(let)
        data = constant_data(let, constant, constants)
        assert data is not None
        channels = data.size
        operands = np.repeat(every_byte()[:, None], channels, axis=1), data.reshape(1, channels)
        types = arg_type(let, value), arg_type(let, constant)
        arrays = operands if value == 0 else operands[::-1]
        shaped = [_like(type_, array) for type_, array in zip(types, operands, strict=True)]
        result = dataclasses.replace(let.var.type, shape=(TABLE_LEN, channels))
        results = let.call.op.evaluate(
            let.call.attrs, arrays, tuple(shaped if value == 0 else shaped[::-1]), result
        )
        return np.ascontiguousarray(results.T).reshape(-1).view(np.int8)


def _like(type_: TensorType, array: np.ndarray) -> TensorType:
    return dataclasses.replace(type_, shape=array.shape)


_OPS = ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM", "PRELU")

PAIR_TABLES = tuple(
    PairTable(op, result, by_channel=by_channel)
    for by_channel in (False, True)
    for op, result in (
        *((op, DType.INT8) for op in _OPS),
        *((op.name, DType.BOOL) for op in COMPARISONS),
    )
)
for _table in PAIR_TABLES:
    register(_table)
