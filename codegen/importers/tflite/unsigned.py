"""uint8 of a file, held as int8: every number and every zero point 128 less.

What a number means stays the same, so an operator of uint8 is the one of int8. At the model's inputs and
outputs a step turns the sign bit; a QUANTIZE beside it becomes that step.
"""

from collections.abc import Sequence
from dataclasses import replace

from codegen.importers.reporting import Refused
from codegen.importers.tflite.file.reader import FileOperator
from codegen.importers.tflite.tensors import Tensors, as_in_file
from codegen.ir import Arg, Call, DType, Let, Source, Var
from codegen.ir.ops import OPS, RoundedAttrs

_QUANTIZE = OPS["QUANTIZE"]

OF_UINT8 = frozenset(
    {"ADD", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "AVERAGE_POOL_2D", "BATCH_TO_SPACE_ND", "BROADCAST_TO"}
    | {
        "CAST",
        "CONCATENATION",
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "DEPTH_TO_SPACE",
        "DEQUANTIZE",
        "EMBEDDING_LOOKUP",
        "EQUAL",
    }
    | {"EXPAND_DIMS", "FULLY_CONNECTED", "GATHER", "GATHER_ND", "GREATER", "GREATER_EQUAL", "HARD_SWISH"}
    | {"LEAKY_RELU", "LESS", "LESS_EQUAL", "LOGISTIC", "MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM"}
    | {"MIRROR_PAD", "MUL", "NOT_EQUAL", "PACK", "PAD", "PADV2", "PRELU", "QUANTIZE", "READ_VARIABLE"}
    | {"REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6", "RELU_N1_TO_1", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR"}
    | {"REVERSE_V2", "SELECT", "SELECT_V2", "SHAPE", "SLICE", "SOFTMAX", "SPACE_TO_BATCH_ND"}
    | {"SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "SUB", "TANH", "TILE", "TRANSPOSE"}
    | {"TFLite_Detection_PostProcess", "TRANSPOSE_CONV", "UNPACK"}
)
"""Operators whose results on uint8, less 128, the engine computes as those on int8 (`tests/opgen`). Others
round otherwise (RESIZE_BILINEAR, L2_NORMALIZATION), or no engine has them."""


def need_known(operator: FileOperator, tensors: Tensors) -> None:
    """Raise Refused E301 for an operator on uint8 that is not one of `OF_UINT8`."""
    places = (*operator.inputs, *operator.outputs)
    if operator.kind in OF_UINT8 or not any(tensors.is_unsigned(index) for index in places if index != -1):
        return
    text = f"operator {operator.custom_name or operator.name} of uint8 is not supported"
    advice = "convert the model with int8 instead of uint8; `codegen ops` lists the supported operators"
    raise Refused("E301", text, advice)


class Edges:
    """The steps that move inputs and outputs of a function."""

    def __init__(self, operators: int) -> None:
        """`operators` of the file: steps here are numbered after them."""
        self._next = operators
        self._inputs: list[Let] = []
        self._outputs: list[Let] = []

    def input(self, held: Var) -> tuple[Var, Var]:
        """The parameter that has the file's uint8 and the name of `held`; what is held of it."""
        param = replace(held, type=as_in_file(held.type))
        return param, self._turned(self._inputs, "input", param, held)

    def output(self, held: Var) -> Var:
        """The file's uint8 of what is held."""
        return self._turned(self._outputs, "output", held, replace(held, type=as_in_file(held.type)))

    def _turned(self, steps: list[Let], where: str, value: Var, result: Var) -> Var:
        source = Source(op_index=self._next, op_name=where, tensor_name=value.origin)
        var = replace(result, name=f"{_QUANTIZE.short}{self._next}")
        steps.append(
            Let(var=var, call=Call(op=_QUANTIZE, args=(value,), attrs=RoundedAttrs()), source=source)
        )
        self._next += 1
        return var

    def around(self, body: Sequence[Let], kept: Sequence[Var]) -> tuple[Let, ...]:
        """`body` between them; a QUANTIZE that is the only one to read an input, or whose result is an output
        alone, takes their place. `kept`: further results of the function."""
        steps = list(body)
        first = [let for let in self._inputs if not _join_input(let, steps, kept)]
        last = [let for let in self._outputs if not self._join_output(let, steps, kept)]
        return (*first, *steps, *last)

    def _join_output(self, edge: Let, steps: list[Let], kept: Sequence[Var]) -> bool:
        [value] = edge.call.args
        place = next((place for place, let in enumerate(steps) if let.var == value), None)
        if place is None or value in kept or _readers(value, steps):
            return False
        maker = steps[place]
        argument = maker.call.types[0] if maker.call.op is _QUANTIZE else None
        if argument is None or argument.dtype is not DType.INT8:
            return False
        steps[place] = replace(maker, var=edge.var)
        return True


def _join_input(edge: Let, steps: list[Let], kept: Sequence[Var]) -> bool:
    readers = _readers(edge.var, steps)
    if len(readers) != 1 or edge.var in kept:
        return False
    reader = steps[readers[0]]
    if reader.call.op is not _QUANTIZE or reader.var.type.dtype is not DType.INT8:
        return False
    steps[readers[0]] = replace(reader, call=replace(reader.call, args=edge.call.args))
    return True


def _readers(value: Arg | None, steps: Sequence[Let]) -> list[int]:
    return [place for place, let in enumerate(steps) if value in let.call.args]
