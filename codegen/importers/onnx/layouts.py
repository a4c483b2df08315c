"""Values between nodes, each with the order its axes are stored in; and the steps that compute them.

ONNX writes images as N, C, H, W, the kernels read N, H, W, C. No value is moved before somebody needs it in
another order: it is kept as it was computed, with the place of every axis. So two moves that undo each other
never come to be, and one move serves all who read a value in the same order.
"""

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.importers.budget import Budget
from codegen.importers.limits import MAX_OPERATORS, RAISE, STATED, ByteLimits
from codegen.importers.onnx.no_elements import without_elements
from codegen.importers.reporting import Refused
from codegen.ir import Arg, Call, Constant, ConstRef, DType, Let, Quantization, Source, TensorType, Var
from codegen.ir.evaluate import evaluate_let
from codegen.ir.ops import (
    OPS,
    Attrs,
    ConcatAttrs,
    ReshapeAttrs,
    TransposeAttrs,
    find_op,
    gathering,
    layout,
    plain,
)
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.ir.ops.plain import PlainAttrs
from codegen.passes.pipeline import substitute_let

Axes = tuple[int, ...]
"""Storage order of a value: axis i of the model is axis `axes[i]` of the memory."""

CHANNELS_LAST: Axes = (0, 3, 1, 2)
"""N, C, H, W in the memory's N, H, W, C."""

_FLOAT_OR_INT = "float32, float64, int8, int16, int32, int64 and bool"


DOUBLE_ADVICE = "export the model with float32 values"
"""Advice for an operator that does not work on float64."""

_DOUBLES = frozenset(op.name for op in (*layout.OPERATORS, *gathering.OPERATORS, *plain.OPERATORS))


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A value that the file states, or that follows from what it states."""

    data: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents in the model's order."""
        return self.data.shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Computed:
    """A value of the running model."""

    var: Var
    axes: Axes
    less: int = 0
    """How much less its integers are than the file means: unsigned ones of quantised networks are held as
    signed ones, with 128 or 32768 less."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents in the model's order."""
        return tuple(self.var.type.shape[axis] for axis in self.axes)


Value = Known | Computed


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """Result of a DequantizeLinear: real numbers of which only the integers are there so far."""

    value: Value
    """Integers; computed ones are int8 or int16, unsigned ones with less (`Computed.less`)."""
    scale: np.ndarray
    """Scales in float32: one number, or one a channel along `axis`."""
    zero: np.ndarray
    """Zero point of the integers as `value` holds them, one number or one a channel."""
    axis: int
    is_int4: bool = False
    """The file's integers have four bits."""

    def along(self, numbers: np.ndarray) -> np.ndarray:
        """Scales or zero points with the axes of the value."""
        shape = [1] * len(self.value.shape)
        if numbers.ndim and shape:
            shape[self.axis] = numbers.size
        return numbers.reshape(shape)


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A sequence of tensors: nothing of it runs, its elements are values of their own."""

    values: tuple[Value, ...]


Given = Value | Stored | Listed
"""Kinds of values that a name of the file can stand for."""


def identity(rank: int) -> Axes:
    """Axes stored in the model's order."""
    return tuple(range(rank))


def moved(data: np.ndarray, axes: Axes) -> np.ndarray:
    """`data`, in the model's order, as it is stored."""
    inverse = sorted(range(len(axes)), key=lambda axis: axes[axis])
    return np.array(np.transpose(data, inverse), order="C")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredAs:
    """Element type and quantisation of a result: those of the first argument where nothing is said."""

    dtype: DType | None = None
    quantization: Quantization | None = None


AS_ARGUMENT = StoredAs()


class StepList:
    """The steps of a model so far, and its constants."""

    def __init__(self, limits: ByteLimits = STATED) -> None:
        self.limits = limits
        self.body: list[Let] = []
        self._constants: dict[str, Constant] = {}
        self._by_digest: dict[str, Constant] = {}
        self._shared_steps: dict[tuple[Call, TensorType], Var] = {}
        self._names: dict[str, int] = {}
        self._shared: set[str] = set()
        self._known_bytes = 0
        self._unrolled = 0
        self.budget = Budget(limits)
        self.source = Source(op_index=0, op_name="")
        """The node that is translated."""
        self.left_in_float: list[str] = []
        """Quantised layers without an integer step, and why; for the report."""
        self.may_differ: list[str] = []
        """Integer steps that may be one step of their result away from onnxruntime's, and where."""
        self.without_elements: list[str] = []
        """Graph inputs and outputs that have no elements, so that nobody gives or takes any."""

    def count_known(self, shape: tuple[int, ...]) -> None:
        """Count numbers that a node makes of what the file states, before they are made. Raises Refused E305
        beyond what is imported of one file."""
        self._known_bytes += math.prod(shape) * 8
        if self._known_bytes > self.limits.made:
            text = f"makes constants of more than {self.limits.made} bytes, together with nodes before it"
            raise Refused("E305", text, RAISE)

    def count_unrolled(self, before: int) -> int:
        """Count the steps from number `before` on as a moment of an unrolled layer; the number of the next.

        Raises Refused E305 where such layers have more steps together than a file may have operators.
        """
        now = len(self.body)
        self._unrolled += now - before
        if self._unrolled > MAX_OPERATORS:
            text = f"is unrolled, and unrolled layers have more than {MAX_OPERATORS} steps together"
            raise Refused(
                "E305", text, "run it over shorter parts, its states as inputs and outputs of the model"
            )
        return now

    @property
    def constants(self) -> dict[str, Constant]:
        """Constants that a step reads."""
        used = {arg.id for let in self.body for arg in let.call.args if isinstance(arg, ConstRef)}
        return {name: constant for name, constant in self._constants.items() if name in used}

    def constant(
        self, data: np.ndarray, quantization: Quantization | None = None, *, is_int4: bool = False
    ) -> ConstRef:
        """A use of `data`; equal data of one meaning are one constant. `is_int4`: bytes that are int4
        numbers. Raises Refused for a type that no kernel reads."""
        try:
            dtype = DType.INT4 if is_int4 else DType(str(data.dtype))
        except ValueError:
            text = f"a constant is {data.dtype}, supported are {_FLOAT_OR_INT}"
            raise Refused("E301", text, "export the model with float32 or int8 weights") from None
        dense = np.array(data, order="C")
        hashed = hashlib.sha256(f"{dtype.value}{dense.shape}{quantization or ''}".encode())
        hashed.update(dense.reshape(-1).data)
        digest = hashed.hexdigest()
        constant = self._by_digest.get(digest)
        if constant is None:
            kind = TensorType(shape=dense.shape, dtype=dtype, quantization=quantization)
            constant = Constant(id=f"c{len(self._constants)}", type=kind, data=dense)
            self._constants[constant.id] = self._by_digest[digest] = constant
        return ConstRef(id=constant.id, type=constant.type)

    def meaning(self, arg: Arg, quantization: Quantization) -> Arg:
        """An argument whose integers mean what `quantization` says: a constant has no meaning of its own."""
        return self.constant(self._data(arg), quantization) if isinstance(arg, ConstRef) else arg

    def stored(self, value: Value, axes: Axes) -> Arg:
        """The value with its axes stored at `axes`; a value that is stored otherwise is moved, once."""
        if isinstance(value, Known):
            return self.constant(moved(value.data, axes))
        if value.axes == axes:
            return value.var
        permutation = [0] * len(axes)
        for there, here in zip(axes, value.axes, strict=True):
            permutation[there] = here
        attrs = TransposeAttrs(permutation=tuple(permutation))
        return computed(self.step("TRANSPOSE", [value.var], attrs, axes=axes, shared=True)).var

    def dense(self, value: Value) -> Arg:
        """The value in the model's own order."""
        return self.stored(value, identity(len(value.shape)))

    def reshape(self, value: Value, shape: tuple[int, ...]) -> Value:
        """The value with other extents, elements in the model's order."""
        if value.shape == shape:
            return value
        if isinstance(value, Known):
            return Known(data=value.data.reshape(shape))
        places = [place for place, extent in zip(value.axes, value.shape, strict=True) if extent != 1]
        source = value.var if places == sorted(places) else self.dense(value)
        return self.step("RESHAPE", [source], ReshapeAttrs(shape=shape))

    def step(
        self,
        op_name: str,
        args: Sequence[Arg | None],
        attrs: Attrs,
        *,
        axes: Axes | None = None,
        stored: StoredAs = AS_ARGUMENT,
        shared: bool = False,
    ) -> Value:
        """The result of one step; of constants alone it is computed here.

        `axes`: where the axes of the result are, in the model's order unless said. `shared`: an equal step
        that is there already serves. Steps are compared as they run; how their readers name the axes is no
        part of them.
        Raises Refused E306 where the operator's rule is broken, E305 beyond what is ever imported.
        """
        op = find_op(op_name)
        assert op is not None, op_name
        call = Call(op=op, args=tuple(args), attrs=attrs)
        _need_no_double(call)
        first = next(arg for arg in args if arg is not None)
        dtype, quantization = stored.dtype, stored.quantization
        if quantization is None and dtype in (None, first.type.dtype):
            quantization = first.type.quantization
        try:
            kind = TensorType(
                shape=op.result_shape(attrs, call.types),
                dtype=dtype or first.type.dtype,
                quantization=quantization,
            )
            if 0 not in kind.shape:
                op.check(attrs, call.types, kind)
        except ValueError as error:
            raise Refused("E306", str(error)) from error
        axes = identity(len(kind.shape)) if axes is None else axes
        if 0 in kind.shape:
            return Known(data=np.transpose(without_elements(kind.shape, kind.dtype.value), axes))
        if shared and (call, kind) in self._shared_steps:
            return Computed(var=self._shared_steps[call, kind], axes=axes)
        count = self._names.get(op.short, 0)
        var = Var(name=f"{op.short}{count}", type=kind, origin=self.source.tensor_name)
        let = Let(var=var, call=call, source=self.source)
        if all(arg is None or isinstance(arg, ConstRef) for arg in args):
            self.budget.folded(call, kind)
            data = evaluate_let(let, [None if arg is None else self._data(arg) for arg in args])
            return Known(data=np.transpose(data, axes))
        if any(arg is not None and 0 in arg.type.shape for arg in args):
            raise Refused("E301", "computes elements from a value that has none, which is not supported here")
        self.budget.value(kind)
        self._names[op.short] = count + 1
        self.body.append(let)
        if shared:
            self._shared_steps[call, kind] = var
        return Computed(var=var, axes=axes)

    def rename(self, variables: Iterable[Var]) -> None:
        """Replace each variable by the one of its name, which knows the graph output that it is."""
        values = {var.name: var for var in variables}
        self.body = [
            replace(substitute_let(let, values), var=values.get(let.var.name, let.var)) for let in self.body
        ]

    def copied(self, known: Known) -> Computed:
        """A constant as a value of the running model: a graph output that is one is copied by a step."""
        row = self.constant(known.data.reshape(-1))
        call = Call(op=OPS["CONCATENATION"], args=(row,), attrs=ConcatAttrs(axis=0))
        self.budget.value(row.type)
        count = self._names.get(call.op.short, 0)
        self._names[call.op.short] = count + 1
        var = Var(name=f"{call.op.short}{count}", type=row.type, origin=self.source.tensor_name)
        self.body.append(Let(var=var, call=call, source=self.source))
        reshaped = self.reshape(Computed(var=var, axes=(0,)), known.shape)
        assert isinstance(reshaped, Computed), "its argument is computed"
        return reshaped

    def real(self, stored: Stored) -> Value:
        """The real numbers of integers, once for all who read them."""
        if isinstance(stored.value, Known):
            centred = stored.value.data.astype(np.int64) - stored.along(stored.zero)
            return Known(data=centred.astype(np.float32) * stored.along(stored.scale))
        value = stored.value
        real = StoredAs(dtype=DType.FLOAT32)
        return self.step("DEQUANTIZE", [value.var], Attrs(), axes=value.axes, stored=real, shared=True)

    def share(self, values: Iterable[Value]) -> None:
        """Values that have a second name from now on: what a step gives must not change for one of them."""
        self._shared.update(value.var.name for value in values if isinstance(value, Computed))

    def _data(self, arg: Arg) -> np.ndarray:
        assert isinstance(arg, ConstRef), "asked for constants only"
        return self._constants[arg.id].data

    def scaled(self, value: Value, scale: np.ndarray | None, offset: np.ndarray) -> bool:
        """Multiply the result of the weighted step that computes `value` by `scale` and add `offset`; true if
        that was possible.

        Both have one number a channel, the last stored axis. Nobody else may read the value.
        """
        if not isinstance(value, Computed) or value.var.name in self._shared:
            return False
        index = next((i for i, let in enumerate(self.body) if let.var == value.var), None)
        op = None if index is None else self.body[index].call.op
        if index is None or not isinstance(op, WeightedOp) or value.var.type.dtype is not DType.FLOAT32:
            return False
        let = self.body[index]
        image, weights, bias = (*let.call.args, None)[:3]
        if not isinstance(weights, ConstRef) or isinstance(bias, Var):
            return False
        channels = value.var.type.shape[-1]
        shift = np.broadcast_to(offset, (channels,)).astype(np.float32)
        old = np.zeros(channels, np.float32) if bias is None else self._data(bias)
        if scale is not None:
            factors = np.broadcast_to(scale, (channels,)).astype(np.float32)
            shape = [1] * len(weights.type.shape)
            shape[op.weights_axis] = channels
            weights, old = self.constant(self._data(weights) * factors.reshape(shape)), old * factors
        args = (image, weights, self.constant(old + shift))
        self.body[index] = replace(let, call=replace(let.call, args=args))
        return True


def _need_no_double(call: Call) -> None:
    """Raise Refused for an argument of float64 that the operator, or kind of PLAIN_PAIR, does not take."""
    if all(kind is None or kind.dtype is not DType.FLOAT64 for kind in call.types):
        return
    attrs = call.attrs
    if call.op.name not in _DOUBLES or (isinstance(attrs, PlainAttrs) and attrs.kind not in plain.DOUBLES):
        raise Refused("E301", "works on float64, supported is float32", DOUBLE_ADVICE)


def computed(value: Value) -> Computed:
    """The value of a step that has a computed argument."""
    assert isinstance(value, Computed), "its argument is computed"
    return value
