"""Runs a function in NumPy: the reference result of a whole network."""

from collections.abc import Iterator, Sequence

import numpy as np

from codegen.ir.function import Arg, ConstRef, Function, Let, Module, Var
from codegen.ir.operator import Arrays


def _value(module: Module, values: dict[str, np.ndarray], arg: Arg | None) -> np.ndarray | None:
    if arg is None:
        return None
    if isinstance(arg, ConstRef):
        return module.constants[arg.id].data.reshape(arg.type.shape)
    return values[arg.name]


def evaluate_let(let: Let, values: Arrays) -> np.ndarray:
    """The reference result of one step for the given argument values.

    Floats overflow to infinity and NaN without a word, as they do in C.
    """
    with np.errstate(all="ignore"):
        return let.call.op.evaluate(let.call.attrs, values, let.call.types, let.var.type)


def steps(
    module: Module, function: Function, inputs: Sequence[np.ndarray]
) -> Iterator[tuple[Let, np.ndarray]]:
    """Yield every step with its result, in order. `inputs` have the shapes and dtypes of the parameters.

    Raises ValueError if they do not.
    """
    values = _bind(function, inputs)
    for let in function.body:
        result = evaluate_let(let, [_value(module, values, arg) for arg in let.call.args])
        values[let.var.name] = result
        yield let, result


def evaluate(module: Module, function: Function, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The function's results. Raises ValueError if `inputs` do not fit the parameters."""
    values = _bind(function, inputs)
    for let, result in steps(module, function, inputs):
        values[let.var.name] = result
    results = [_value(module, values, result) for result in function.results]
    return [result for result in results if result is not None]


def _bind(function: Function, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    if len(inputs) != len(function.params):
        raise ValueError(f"{function.name} takes {len(function.params)} inputs, not {len(inputs)}")
    for param, data in zip(function.params, inputs, strict=True):
        _check(param, data)
    return {param.name: data for param, data in zip(function.params, inputs, strict=True)}


def _check(param: Var, data: np.ndarray) -> None:
    if tuple(data.shape) != param.type.shape or data.dtype != param.type.dtype.numpy:
        raise ValueError(f"input {param.name} is {param.type}, got {data.dtype}{list(data.shape)}")
