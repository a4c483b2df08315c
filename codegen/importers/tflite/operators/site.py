"""One operator of the file while it is translated: its operands, options and complaints.

Numbers that follow from shapes alone are known when the file is read, so no step computes them: exporters
that leave the batch open write the new shape of a RESHAPE as SHAPE, STRIDED_SLICE, PACK (with other extents).
With the shapes that the file states, an unknown batch being 1, it is a constant.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from tflite.ActivationFunctionType import ActivationFunctionType

from codegen.importers.limits import MAX_RANK
from codegen.importers.reporting import AlreadyReported, ImportProblem, ImportReport, Refused
from codegen.importers.tflite.file.reader import FileOperator
from codegen.importers.tflite.operators.stored_options import StoredOptions, attributes_of, options_of
from codegen.importers.tflite.operators.unsigned_weights import centred, with_rounded_product
from codegen.importers.tflite.tensors import Tensors
from codegen.ir import Arg, ConstRef, DType, Quantization, Source, TensorType, Var
from codegen.ir.ops import ActivatedAttrs, Activation, Attrs
from codegen.ir.ops.base.operands import broadcast

_ACTIVATIONS = {
    ActivationFunctionType.NONE: Activation.NONE,
    ActivationFunctionType.RELU: Activation.RELU,
    ActivationFunctionType.RELU_N1_TO_1: Activation.RELU_N1_TO_1,
    ActivationFunctionType.RELU6: Activation.RELU6,
}
_ACTIVATION_NAMES = {
    code: name for name, code in vars(ActivationFunctionType).items() if isinstance(code, int)
}

_Attrs = TypeVar("_Attrs", bound=Attrs)
_Activated = TypeVar("_Activated", bound=ActivatedAttrs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Translated:
    """A translated operator of the file: an operator of the IR, its arguments, its attributes.

    An argument may be what another step computes: then several steps make up the operator.
    """

    op: str
    args: "tuple[Arg | InnerStep | None, ...]"
    attrs: Attrs

    def giving(self, type_: TensorType) -> "InnerStep":
        """This as an argument of another step, of a type that the file does not state."""
        return InnerStep(op=self.op, args=self.args, attrs=self.attrs, type=type_)


@dataclass(frozen=True, kw_only=True, slots=True)
class InnerStep(Translated):
    """A step whose result is only an argument of another one of the same operator of the file."""

    type: TensorType


class Values:
    """Which tensors hold a value so far: computed ones by tensor number, None where translation failed."""

    def __init__(self, tensors: Tensors, producers: dict[int, int]) -> None:
        self.tensors = tensors
        self._producers = producers
        self._computed: dict[int, Var | None] = {}
        self._from_inputs: set[int] = set()

    def define(self, index: int, var: Var | None, *, from_inputs: bool) -> None:
        """Tensor `index` holds `var` (None: its operator was refused); `from_inputs`: inputs decide it."""
        self._computed[index] = var
        if from_inputs:
            self._from_inputs.add(index)

    def is_computed(self, index: int) -> bool:
        """True if an earlier operator or a graph input defines the tensor."""
        return index in self._computed

    def variables(self, indices: Iterable[int]) -> list[str]:
        """The names of what is computed of some tensors."""
        computed = (self._computed.get(index) for index in indices)
        return [var.name for var in computed if var is not None]

    def depends_on_inputs(self, index: int) -> bool:
        """True if the tensor's value depends on a graph input."""
        return index in self._from_inputs

    def read(self, index: int) -> Arg:
        """The value of tensor `index`; raises Refused or AlreadyReported if it has none."""
        if index in self._computed:
            var = self._computed[index]
            if var is None:
                raise AlreadyReported
            return var
        tensor = self.tensors.tensor(index)
        if index in self._producers and not self.tensors.is_folded(index):
            raise Refused(
                "E303",
                f"reads {tensor}, which op {self._producers[index]} writes: not before this operator",
                "operators have to be in the order of execution, without cycles",
            )
        if not self.tensors.has_data(index):
            raise Refused("E303", f"reads {tensor}, which has no value: no operator writes it, no data")
        constant = self.tensors.constant(index)
        return ConstRef(id=constant.id, type=constant.type)


class Site:
    """An operator being translated. Methods raise `Refused` when nothing sensible can follow."""

    def __init__(
        self,
        operator: FileOperator,
        values: Values,
        report: ImportReport,
        results: Sequence[TensorType | None],
    ) -> None:
        self.operator = operator
        self._results = results
        self._values = values
        self._report = report
        self._where = where(operator, values.tensors)
        self._complaints = 0
        self._fused = Activation.NONE

    @property
    def result(self) -> TensorType:
        """Type of the first result as the file declares it; AlreadyReported if it cannot be imported."""
        return self.results[0]

    @property
    def results(self) -> tuple[TensorType, ...]:
        """Types of all results as the file declares them; AlreadyReported if one cannot be imported."""
        results = tuple(result for result in self._results if result is not None)
        if len(results) != len(self._results):
            raise AlreadyReported
        return results

    @property
    def complained(self) -> bool:
        """True if something about this operator was reported."""
        return self._complaints > 0

    def complain(self, code: str, text: str, advice: str | None = None) -> None:
        """Report a problem of this operator and go on, so that its other problems are seen too."""
        self.refuse(ImportProblem(code=code, text=text, advice=advice))

    def refuse(self, problem: ImportProblem) -> None:
        """Report what was raised about an operand and go on."""
        self._complaints += 1
        self._report.add(problem, where=self._where, reads=self._values.variables(self.operator.inputs))

    def unsupported(self, text: str, advice: str | None = None) -> None:
        """Report an option that is not supported and go on."""
        self.complain("E301", text, advice)

    def need_inputs(self, low: int, high: int) -> None:
        """Refuse the operator unless it has `low` to `high` inputs."""
        count = len(self.operator.inputs)
        if not low <= count <= high:
            count_text = str(low) if low == high else f"{low} to {high}"
            raise Refused("E303", f"has {count} inputs, needs {count_text}")

    def has(self, position: int) -> bool:
        """True if input `position` is not left out."""
        return position < len(self.operator.inputs) and self.operator.inputs[position] != -1

    def arg(self, position: int) -> Arg:
        """Input `position` as a value."""
        if not self.has(position):
            raise Refused("E303", f"input {position} is left out, which this operator does not allow")
        return self._values.read(self.operator.inputs[position])

    @property
    def gives_unsigned(self) -> bool:
        """True if the file has uint8 as the first result, which is held as int8."""
        return self._values.tensors.is_unsigned(self.operator.outputs[0])

    def args(self, count: int) -> tuple[Arg, ...]:
        """The first `count` inputs; the problems of all of them are reported."""
        return tuple(arg for arg in self._read(range(count)) if arg is not None)

    def all_args(self) -> tuple[Arg | None, ...]:
        """Every input, None for one left out; the problems of all of them are reported."""
        count = len(self.operator.inputs)
        return tuple(self._read([index if self.has(index) else None for index in range(count)]))

    @property
    def depends_on_inputs(self) -> bool:
        """True if an input of the graph decides any of this operator's."""
        return any(map(self.is_from_inputs, range(len(self.operator.inputs))))

    def is_from_inputs(self, position: int) -> bool:
        """True if inputs of the graph decide input `position`."""
        return self.has(position) and self._values.depends_on_inputs(self.operator.inputs[position])

    def _read(self, positions: Iterable[int | None]) -> list[Arg | None]:
        args: list[Arg | None] = []
        failures: list[Refused | AlreadyReported] = []
        for position in positions:
            try:
                args.append(None if position is None else self.arg(position))
            except (Refused, AlreadyReported) as failure:
                failures.append(failure)
        self._raise_last(failures)
        return args

    def _raise_last(self, failures: Sequence[Refused | AlreadyReported]) -> None:
        for failure in failures:
            if isinstance(failure, Refused):
                self.refuse(failure.problem)
        if failures:
            raise AlreadyReported

    def weighted(self, places: tuple[int, int, int] = (0, 1, 2)) -> tuple[Arg, Arg, Arg | None]:
        """Image, weights, the optional bias at `places`; the graph's inputs must not decide the last two."""
        self.need_inputs(places[2], places[2] + 1)
        has_bias = self.has(places[2])
        args = [arg for arg in self._read(places if has_bias else places[:2]) if arg is not None]
        image, weights, bias = (*args, None) if not has_bias else args
        assert image is not None and weights is not None
        is_unsigned = self.is_unsigned(places[1])
        self._need_hybrid_int8(image.type, weights.type, is_unsigned=is_unsigned)
        weights = centred(weights, self._values.tensors, is_unsigned=is_unsigned)
        if is_unsigned:
            weights = with_rounded_product(self.operator.name, image.type, weights)
        for position, what in ((places[1], "weights"), (places[2], "bias")):
            if self.is_from_inputs(position):
                self.unsupported(f"the {what} are computed from the model's inputs, supported are constants")
        return image, weights, bias

    def is_unsigned(self, position: int) -> bool:
        """True if the file has uint8 at input `position`, which is held as int8."""
        return self._values.tensors.is_unsigned(self.operator.inputs[position])

    def _need_hybrid_int8(self, image: TensorType, weights: TensorType, *, is_unsigned: bool) -> None:
        """Beside a float32 image weights are float32 or int8; TFLite takes uint8 ones for int8."""
        if image.dtype is not DType.FLOAT32 or weights.dtype is DType.FLOAT32:
            return
        if is_unsigned or weights.dtype is not DType.INT8:
            name = "uint8" if is_unsigned else weights.dtype.value
            text = f"hybrid operator: the image is float32, the weights are {name}, supported is int8"
            self.unsupported(text, "convert it again with weights of int8, or without quantisation")
            raise AlreadyReported

    def numbers(self, position: int, what: str, limit: int = MAX_RANK) -> tuple[int, ...]:
        """Values of the constant operand `position` (axes, a shape): shapes depend on them."""
        if not self.has(position):
            raise Refused("E303", f"input {position} ({what}) is left out")
        index = self.operator.inputs[position]
        if self._values.is_computed(index):
            self._values.read(index)  # nothing is said of what follows from another refusal
            tensor = self._values.tensors.tensor(index)
            raise Refused(
                "E301",
                f"{what} in {tensor} is computed while the model runs",
                "convert the model with fixed shapes, so that this is a constant",
                reason=f"{what} is computed while the model runs",
                subject=str(tensor),
            )
        return self._values.tensors.numbers(index, limit)

    def is_computed(self, position: int) -> bool:
        """True if input `position` is known only while the model runs."""
        return self.has(position) and self._values.is_computed(self.operator.inputs[position])

    def constant_data(self, position: int) -> np.ndarray:
        """Data of the constant input `position`."""
        return self._values.tensors.constant(self.operator.inputs[position]).data

    def raw_bytes(self, position: int) -> np.ndarray:
        """The file's bytes of the constant input `position`, whatever its type; none if it has no data."""
        return self._values.tensors.raw_bytes(self.operator.inputs[position])

    def extent(self, position: int) -> int:
        """Elements of input `position`, a tensor of one dimension that may have no data; else 0."""
        shape = self._values.tensors.tensor(self.operator.inputs[position]).shape
        return max(shape[0], 0) if len(shape) == 1 else 0

    def arena_offset(self, index: int) -> int:
        """Offset of tensor `index` in the file's arena; Refused E316 where the file has no such table."""
        return self._values.tensors.arena_offset(index)

    def made(self, data: np.ndarray, quantization: Quantization | None = None) -> ConstRef:
        """A constant that the file does not hold."""
        constant = self._values.tensors.make(data, quantization)
        return ConstRef(id=constant.id, type=constant.type)

    def options(self, *, required: bool = True) -> StoredOptions:
        """The operator's options; where they are left out and not `required`, the schema's defaults."""
        return options_of(self.operator, required=required)

    def fused_options(self, *, required: bool = True) -> StoredOptions:
        """Options with a fused activation, which `activated` takes; an unsupported one is reported."""
        options = self.options(required=required)
        code = options.integer("activation")
        self._fused = _ACTIVATIONS.get(code, Activation.NONE)
        if code in _ACTIVATION_NAMES and code not in _ACTIVATIONS:
            self.unsupported(f"fused activation {_ACTIVATION_NAMES[code]} is not supported")
        elif code not in _ACTIVATIONS:
            self.complain("E303", f"fused activation number {code} does not exist")
        return options

    def attributes(self, kind: type[_Attrs], **known: object) -> _Attrs:
        """Attributes of the IR: `known` ones, and those that an option of the same name says."""
        return attributes_of(self.operator, kind, known)

    def activated(self, attrs: _Activated) -> _Activated:
        """`attrs` with the activation that `fused_options` have."""
        return replace(attrs, activation=self._fused)

    def need_no_activation(self) -> None:
        """Report an activation that `fused_options` have."""
        if self._fused is not Activation.NONE:
            self.unsupported(f"an activation fused into {self.operator.name} is not supported")


def where(operator: FileOperator, tensors: Tensors) -> str:
    """How messages name an operator: number, name, name of its first result."""
    return str(source(operator, tensors))


def source(operator: FileOperator, tensors: Tensors, output: int = 0) -> Source:
    """The operator's place in the file, named by one of its outputs."""
    try:
        name = tensors.tensor(operator.outputs[output]).name if operator.outputs else ""
    except Refused:
        name = ""
    return Source(op_index=operator.index, op_name=operator.kind, tensor_name=name)


_MAX_NUMBERS = 64
"""Numbers of one folded tensor: shapes have a few; more of them are left to steps."""


def _shape(site: Site) -> np.ndarray:
    """SHAPE: the extents of its argument."""
    site.need_inputs(1, 1)
    if site.result.dtype not in (DType.INT32, DType.INT64):
        raise Refused("E303", f"the result is {site.result}, it has to be int32 or int64")
    return np.array(site.arg(0).type.shape, site.result.dtype.numpy)


def _pack(site: Site) -> np.ndarray:
    """PACK of numbers along a new axis."""
    options = site.options()
    values = [
        site.constant_data(position).reshape(arg.type.shape)
        for position, arg in enumerate(site.args(len(site.operator.inputs)))
    ]
    if not values or len({(value.shape, value.dtype) for value in values}) != 1:
        raise Refused("E303", f"packs {len(values)} tensors, which have to be alike and at least one")
    axis, rank = options.integer("axis"), values[0].ndim + 1
    if not -rank <= axis < rank:
        raise Refused("E303", f"axis {axis} is outside {rank} dimensions")
    return np.stack(values, axis)


def _zeros_like(site: Site) -> np.ndarray:
    """ZEROS_LIKE: stored zeros, whatever its argument is."""
    site.need_inputs(1, 1)
    return np.zeros(site.arg(0).type.shape, site.result.dtype.numpy)


def _broadcast_args(site: Site) -> np.ndarray:
    """BROADCAST_ARGS: the shape that two known shapes broadcast to."""
    site.need_inputs(2, 2)
    first, second = site.numbers(0, "the first shape"), site.numbers(1, "the second shape")
    try:
        return np.array(broadcast(first, second), site.result.dtype.numpy)
    except ValueError as error:
        raise Refused("E303", str(error)) from None


FOLDED: Mapping[str, Callable[[Site], np.ndarray]] = MappingProxyType(
    {"BROADCAST_ARGS": _broadcast_args, "PACK": _pack, "SHAPE": _shape, "ZEROS_LIKE": _zeros_like}
)
_ALWAYS_FOLDED = frozenset({"SHAPE", "ZEROS_LIKE"})
"""Operators that need only the shape of their argument. Others are folded where the numbers are known."""


def is_folded(operator: FileOperator, tensors: Tensors) -> bool:
    """True if the results are few numbers that follow from shapes and constants of the file.

    That is every SHAPE and ZEROS_LIKE, a PACK of known numbers, and whatever else reads known numbers, folded
    ones among them. Raises Refused for an operand that the file does not have.
    """
    if operator.name in _ALWAYS_FOLDED:
        return True
    if any(math.prod(tensors.tensor(index).shape) > _MAX_NUMBERS for index in operator.outputs):
        return False
    inputs = [index for index in operator.inputs if index != -1]
    if not all(tensors.has_data(index) for index in inputs):
        return False
    return operator.name in FOLDED or any(tensors.is_folded(index) for index in inputs)
