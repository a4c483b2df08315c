"""Portable kernels of the audio front end."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let, Var
from codegen.ir.ops import EnergyAttrs, FftAttrs, LogAttrs, NoiseAttrs, OverlapAttrs, ShiftAttrs
from codegen.ir.ops.audio.filter_bank import log_table
from codegen.ir.ops.audio.spectrum import FFT_TYPES, order, twiddles
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, arg_type, value_argument
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.call import PARAMS, RESULT, ConstantArg, CStruct, LiteralArg, WorkspaceArg
from codegen.kernels.contract import LinkedConstant, Sharing, Workspace
from codegen.kernels.primfunc import PrimFunc

_SPACE = "space"
_Numbers = Callable[[Let], tuple[int, ...]]


class SignalKernel(PortableKernel):
    """A C function of the arguments, the result, and numbers; several in one file."""

    def __init__(
        self,
        op: str,
        file: str,
        numbers: _Numbers,
        *,
        replaces: tuple[int, ...] = (),
        narrows: bool = False,
        dtype: DType | None = None,
    ) -> None:
        """`replaces`: arguments in whose place the result may be; `narrows`: it may begin where the first
        argument does, whose elements are wider. `dtype`: the argument's, where there are several kernels."""
        self.op = op
        self.stem = op.lower() if dtype is None else f"{op.lower()}_{_KINDS[dtype]}"
        self.name = f"{self.stem}_portable"
        self.argument = dtype
        self._file, self._numbers = file, numbers
        self._replaces, self._narrows = replaces, narrows

    @property
    def header(self) -> str:
        return "cg_kernels_signal.h"

    def structs(self, let: Let) -> tuple[CStruct, ...]:
        """Parameters, which are the first argument of the C function."""
        del let
        return ()

    def tables(self, let: Let) -> dict[str, np.ndarray]:
        """Constants of the kernel's own, behind the arguments of the C function."""
        del let
        return {}

    def space_bytes(self, let: Let) -> int:
        """Bytes of a workspace in front of the result; 0: none."""
        del let
        return 0

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        passed = [
            value_argument(let, index, f"input{index}", constants) for index in range(len(let.call.args))
        ]
        tables = self.tables(let)
        size_bytes = self.space_bytes(let)
        sharing = in_place(let, *self._replaces)
        if self._narrows and isinstance(let.call.args[0], Var):
            sharing = (Sharing(argument=0, below=0),)
        structs = self.structs(let)
        return Parts(
            structs=structs,
            call_args=(
                *((PARAMS,) if structs else ()),
                *(argument for argument, _ in passed),
                *(ConstantArg(role=role) for role in tables),
                *((WorkspaceArg(name=_SPACE),) if size_bytes else ()),
                RESULT,
                *(LiteralArg(value=number) for number in self._numbers(let)),
            ),
            constants=(
                *(linked for _, more in passed for linked in more),
                *(
                    LinkedConstant(
                        role=role,
                        data=np.ascontiguousarray(data.reshape(-1)),
                        alignment=min(4, data.dtype.itemsize),
                        layout=_LAYOUTS[role],
                        is_plain=True,
                    )
                    for role, data in tables.items()
                ),
            ),
            workspaces=(Workspace(name=_SPACE, size_bytes=size_bytes),) if size_bytes else (),
            sharing=sharing,
        )

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        return replace(super().bind(let, constants, name), sources=(f"kernels/portable/{self._file}.c",))


_LAYOUTS = {
    "twiddles": "cos, sin of parts of a turn",
    "splits": "cos, sin behind a quarter of a turn",
    "order": "where each group of the first stage begins",
    "logarithms": "2^16 (log2(1 + i / 128) - i / 128)",
}


class _Transform(SignalKernel):
    """SIGNAL_RFFT or SIGNAL_IRFFT of one element type."""

    def __init__(self, op: str, dtype: DType, *, inverse: bool) -> None:
        kind = _KINDS[dtype]
        super().__init__(op, f"fft_{kind}", self._sizes, dtype=dtype)
        self.stem = f"{'i' if inverse else ''}rfft_{kind}"
        self.name = f"{self.stem}_portable"
        self._inverse = inverse

    def _sizes(self, let: Let) -> tuple[int, ...]:
        length, size = narrow(let.call.attrs, FftAttrs).length, arg_type(let, 0).shape[-1]
        rows = arg_type(let, 0).elements // size
        return (rows, length) if self._inverse else (rows, size, length)

    def tables(self, let: Let) -> dict[str, np.ndarray]:
        length = narrow(let.call.attrs, FftAttrs).length
        factors, splits = twiddles(length, let.var.type.dtype, inverse=self._inverse)
        return {"twiddles": factors, "splits": splits, "order": order(length)}

    def space_bytes(self, let: Let) -> int:
        """Only the inverse takes a workspace: its stages are not done in place."""
        length = narrow(let.call.attrs, FftAttrs).length
        return length * let.var.type.dtype.size_bytes if self._inverse else 0


class _Smoothing(SignalKernel):
    """SIGNAL_NOISE and SIGNAL_SUBTRACT."""

    def structs(self, let: Let) -> tuple[CStruct, ...]:
        noise = narrow(let.call.attrs, NoiseAttrs)
        struct = params(
            "cg_noise_params",
            ("smoothing", noise.smoothing[0]),
            ("remaining", noise.remaining[0]),
            ("odd_smoothing", noise.smoothing[1]),
            ("odd_remaining", noise.remaining[1]),
            ("least", noise.least),
            ("smoothing_bits", noise.smoothing_bits),
            ("bits", noise.bits),
            ("clamps", int(noise.clamps)),
        )
        return (struct,)


class _Log(SignalKernel):
    """SIGNAL_LOG."""

    def tables(self, let: Let) -> dict[str, np.ndarray]:
        del let
        return {"logarithms": log_table()}


_KINDS = {DType.INT16: "s16", DType.INT32: "s32", DType.FLOAT32: "f32"}


def _elements(let: Let) -> tuple[int, ...]:
    return (let.var.type.elements,)


def _window(let: Let) -> tuple[int, ...]:
    shift = narrow(let.call.attrs, ShiftAttrs).shift
    return let.var.type.elements, arg_type(let, 1).elements, shift


def _samples(let: Let) -> tuple[int, ...]:
    return (arg_type(let, 0).elements,)


def _bounds(let: Let) -> tuple[int, ...]:
    bounds = narrow(let.call.attrs, EnergyAttrs)
    return bounds.first, bounds.stop, let.var.type.elements


def _shifted(let: Let) -> tuple[int, ...]:
    return let.var.type.elements, narrow(let.call.attrs, ShiftAttrs).shift


def _scaled(let: Let) -> tuple[int, ...]:
    log = narrow(let.call.attrs, LogAttrs)
    return let.var.type.elements, log.scale, log.shift


def _overlap(let: Let) -> tuple[int, ...]:
    return *arg_type(let, 0).shape, narrow(let.call.attrs, OverlapAttrs).step


_FRAMES, _BANK = "signal_frames", "signal_bank"
register(SignalKernel("SIGNAL_WINDOW", "signal_window", _window, replaces=(0,)))
register(SignalKernel("SIGNAL_SCALE_BITS", _FRAMES, _samples))
register(SignalKernel("SIGNAL_SCALE", _FRAMES, _elements, replaces=(0,)))
for _dtype in FFT_TYPES:
    register(_Transform("SIGNAL_RFFT", _dtype, inverse=False))
    register(_Transform("SIGNAL_IRFFT", _dtype, inverse=True))
register(SignalKernel("SIGNAL_ENERGY", _FRAMES, _bounds, replaces=(0,)))
for _dtype in (DType.INT16, DType.FLOAT32):
    register(SignalKernel("SIGNAL_OVERLAP_ADD", _FRAMES, _overlap, dtype=_dtype))
register(SignalKernel("SIGNAL_FILTER_BANK", _BANK, _elements))
register(SignalKernel("SIGNAL_SQUARE_ROOT", _BANK, _elements, narrows=True))
register(_Smoothing("SIGNAL_NOISE", _BANK, _elements, replaces=(0, 1)))
register(_Smoothing("SIGNAL_SUBTRACT", _BANK, _elements, replaces=(0, 1)))
register(SignalKernel("SIGNAL_PCAN", _BANK, _shifted, replaces=(0, 1)))
register(_Log("SIGNAL_LOG", _BANK, _scaled, narrows=True))
