"""Parts of values: steps that compute some positions of a value along an axis, and nothing else of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from codegen.ir import Arg, Call, Constant, ConstRef, Function, Let, Module, TensorType, Var
from codegen.ir.ops import (
    BatchMatMulAttrs,
    BinaryAttrs,
    ConcatAttrs,
    FullyConnectedAttrs,
    OnnxRounding,
    Pointwise,
    ReshapeAttrs,
    SoftmaxAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from codegen.ir.ops.layout import CONCATENATION, RESHAPE, STRIDED_SLICE
from codegen.ir.ops.lookup import TableLookup


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """Positions [begin, begin + count) along an axis."""

    axis: int
    begin: int
    count: int

    def along(self, axis: int, inner: int = 1) -> "Cut":
        """Move the cut to another axis, `inner` positions for each."""
        return Cut(axis=axis, begin=self.begin * inner, count=self.count * inner)

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Extents of the part of a value of `shape`."""
        return (*shape[: self.axis], self.count, *shape[self.axis + 1 :])

    def of(self, data: np.ndarray) -> np.ndarray:
        """The part of an array."""
        return np.take(data, range(self.begin, self.begin + self.count), self.axis)


@dataclass(kw_only=True, slots=True)
class PartSteps:
    """New steps of a function, which stand in front of `before`."""

    module: Module
    function: Function
    before: Let
    steps: list[Let] = field(default_factory=list[Let])
    constants: dict[str, Constant] = field(default_factory=dict[str, Constant])
    _makers: dict[str, Let] = field(default_factory=dict[str, Let])
    _uses: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def __post_init__(self) -> None:
        self._makers = {let.var.name: let for let in self.function.body}
        self._uses = self.function.uses()

    def add(self, call: Call, shape: tuple[int, ...], like: TensorType) -> Var:
        """The value of a new step, of another shape than `like`."""
        name = f"{self.before.var.name}_part{len(self.steps)}"
        var = Var(name=name, type=replace(like, shape=shape))
        let = Let(var=var, call=call, source=self.before.source)
        self.steps.append(let)
        self._makers[name] = let
        return var

    def joined(self, parts: Sequence[Var], axis: int) -> Var:
        """Parts one behind the other along an axis."""
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].type.shape)
        shape[axis] = sum(part.type.shape[axis] for part in parts)
        call = Call(op=CONCATENATION, args=tuple(parts), attrs=ConcatAttrs(axis=axis))
        return self.add(call, tuple(shape), parts[0].type)

    def reshaped(self, var: Var, shape: tuple[int, ...]) -> Var:
        """The value under another shape."""
        call = Call(op=RESHAPE, args=(var,), attrs=ReshapeAttrs(shape=shape))
        return self.add(call, shape, var.type)

    def part(self, value: Arg, cut: Cut) -> Arg:
        """A part of a value, cut out as far in front as nothing else reads what lies between."""
        if isinstance(value, ConstRef):
            return self._constant(value, cut)
        maker = self._makers.get(value.name)
        if maker is not None and len(self._uses.get(value.name, ())) == 1 and value.device.is_free:
            call = self._call(maker, cut)
            if call is not None:
                return self.add(call, cut.shape(value.type.shape), value.type)
        return self._slice(value, cut)

    def _slice(self, value: Var, cut: Cut) -> Var:
        shape = cut.shape(value.type.shape)
        if shape == value.type.shape:
            return value
        attrs = StridedSliceAttrs(
            begins=tuple(cut.begin if axis == cut.axis else 0 for axis in range(len(shape))),
            strides=(1,) * len(shape),
            counts=shape,
            shape=shape,
        )
        return self.add(Call(op=STRIDED_SLICE, args=(value,), attrs=attrs), shape, value.type)

    def _constant(self, ref: ConstRef, cut: Cut, axis_of_scales: int | None = None) -> ConstRef:
        """A part of a constant, with its share of scales where they lie along the axis."""
        kind, data = ref.type, self.module.constants[ref.id].data.reshape(ref.type.shape)
        meaning = kind.quantization
        if meaning is not None and len(meaning.scales) > 1 and axis_of_scales is not None:
            chosen = slice(cut.begin, cut.begin + cut.count)
            meaning = replace(meaning, scales=meaning.scales[chosen], zero_points=meaning.zero_points[chosen])
        kind = replace(kind, shape=cut.shape(kind.shape), quantization=meaning)
        name = f"{ref.id}_{cut.axis}_{cut.begin}_{cut.count}"
        self.constants[name] = Constant(id=name, type=kind, data=np.ascontiguousarray(cut.of(data)))
        return ConstRef(id=name, type=kind)

    def _call(self, let: Let, cut: Cut) -> Call | None:
        """The call that computes a part of a step's result; None where that is not known."""
        call, shape = let.call, let.var.type.shape
        match call.attrs:
            case TransposeAttrs(permutation=permutation):
                return self._of_first(call, cut.along(permutation[cut.axis]))
            case ReshapeAttrs():
                inner = _axis_below(shape, let.call.args[0], cut.axis)
                attrs = ReshapeAttrs(shape=cut.shape(shape))
                return (
                    None if inner is None else self._of_first(replace(call, attrs=attrs), cut.along(*inner))
                )
            case SoftmaxAttrs() if cut.axis != len(shape) - 1:
                return self._of_first(call, cut)
            case BinaryAttrs():
                return replace(call, args=tuple(self._broadcast(arg, len(shape), cut) for arg in call.args))
            case BatchMatMulAttrs():
                return self._product(call, len(shape), cut)
            case FullyConnectedAttrs(keep_num_dims=True) if cut.axis == len(shape) - 1:
                return self._projection(call, cut)
            case _:
                return self._of_first(call, cut) if isinstance(call.op, Pointwise | TableLookup) else None

    def _of_first(self, call: Call, cut: Cut) -> Call:
        first = call.args[0]
        assert first is not None, "it has an argument"
        return replace(call, args=(self.part(first, cut), *call.args[1:]))

    def _broadcast(self, arg: Arg | None, rank: int, cut: Cut) -> Arg | None:
        if arg is None:
            return None
        axis = cut.axis - (rank - len(arg.type.shape))
        if axis < 0 or arg.type.shape[axis] == 1:
            return arg
        return self.part(arg, cut.along(axis))

    def _product(self, call: Call, rank: int, cut: Cut) -> Call | None:
        """A product of matrices: of some heads, or of some rows of the first factor."""
        both = call.attrs
        assert isinstance(both, BatchMatMulAttrs), "asked before"
        first, second = call.args
        if cut.axis < rank - 2:
            return replace(call, args=(self._broadcast(first, rank, cut), self._broadcast(second, rank, cut)))
        if cut.axis == rank - 2 and not both.adj_x:
            return replace(call, args=(self._broadcast(first, rank, cut), second))
        return None

    def _projection(self, call: Call, cut: Cut) -> Call | None:
        """Some outputs of a fully connected layer: some rows of its weights."""
        image, weights, bias = (*call.args, None)[:3]
        attrs = call.attrs
        assert isinstance(attrs, FullyConnectedAttrs), "asked before"
        if not isinstance(weights, ConstRef) or isinstance(bias, Var):
            return None
        rows = cut.along(0)
        rounding = attrs.rounding
        if isinstance(rounding, OnnxRounding) and len(rounding.scales) > 1:
            rounding = replace(rounding, scales=rounding.scales[cut.begin : cut.begin + cut.count])
        args = (
            image,
            self._constant(weights, rows, 0),
            None if bias is None else self._constant(bias, rows, 0),
        )
        return replace(call, args=args[: len(call.args)], attrs=replace(attrs, rounding=rounding))


def _axis_below(shape: Sequence[int], source: Arg | None, axis: int) -> tuple[int, int] | None:
    """The axis of a RESHAPE's argument that holds an axis of its result, and its positions for each."""
    assert source is not None, "it has an argument"
    before, behind = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    for below in range(len(source.type.shape)):
        inner = math.prod(source.type.shape[below + 1 :])
        if math.prod(source.type.shape[:below]) == before and behind % inner == 0:
            return below, behind // inner
    return None
