"""Translated operators of the file as steps of the IR: one, or several of which the last is its own."""

from collections.abc import Mapping, Sequence

import numpy as np

from codegen.importers.printable_names import printable
from codegen.importers.reporting import ImportProblem
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import Arg, Call, Constant, ConstRef, Let, Source, TensorType, Var
from codegen.ir.evaluate import evaluate_let
from codegen.ir.ops import find_op
from codegen.ir.ops.base.fixed_point import FactorTooLarge

_RESCALE = (
    "scales so far apart are of values that calibration never saw: quantise the model again with data that "
    "reach this operator"
)

Chain = tuple[Let, ...]
"""The steps of one output of an operator, the last one its own."""

Parts = dict[InnerStep, Var]
"""The values that inner steps have computed."""


def chain(
    translated: Translated,
    result: TensorType,
    origin: Source,
    ending: str,
    done: Parts | None = None,
) -> Chain:
    """The steps that `translated` needs for a result of type `result`.

    Names are the operator's in the IR and its number in the file, then `ending`; of values between steps also
    which argument they are. A value that several of them take is computed once; `done`: of other chains too.
    """
    lets: list[Let] = []
    done = {} if done is None else done

    def value(arg: InnerStep, ending: str) -> Var:
        if arg not in done:
            done[arg] = let(arg, arg.type, "", ending)
        return done[arg]

    def let(step: Translated, type_: TensorType, tensor_name: str, ending: str) -> Var:
        args = tuple(
            value(arg, f"{ending}_part{number}") if isinstance(arg, InnerStep) else arg
            for number, arg in enumerate(step.args)
        )
        op = find_op(step.op)
        assert op is not None, step.op
        var = Var(name=f"{op.short}{origin.op_index}{ending}", type=type_, origin=printable(tensor_name))
        lets.append(Let(var=var, call=Call(op=op, args=args, attrs=step.attrs), source=origin))
        return var

    let(translated, result, origin.tensor_name, ending)
    return tuple(lets)


def result_shape(translated: Translated, result: TensorType) -> tuple[int, ...]:
    """The shape that an operator gives its result; that of `result` where the arguments break its rule, which
    whoever checks the step tells."""
    op = find_op(translated.op)
    assert op is not None, translated.op
    try:
        return op.result_shape(
            translated.attrs, [None if arg is None else arg.type for arg in translated.args]
        )
    except ValueError:
        return result.shape


def evaluated(constants: Mapping[str, Constant], steps: Chain) -> np.ndarray:
    """The last result of steps on constants."""
    data: dict[str, np.ndarray] = {}

    def known(arg: Arg | None) -> np.ndarray | None:
        if isinstance(arg, ConstRef):
            return constants[arg.id].data.reshape(arg.type.shape)
        return None if arg is None else data[arg.name]

    for let in steps:
        data[let.var.name] = evaluate_let(let, [known(arg) for arg in let.call.args])
    return data[steps[-1].var.name]


def check_types(site: Site, chains: Sequence[Chain]) -> None:
    """Complain of each chain's first step whose operator does not take these types (E306)."""
    for made in chains:
        for let in made:
            try:
                let.call.op.check(let.call.attrs, let.call.types, let.var.type)
            except FactorTooLarge as error:
                reason, advice = "a factor between quantisations is too large for integer kernels", _RESCALE
                site.refuse(ImportProblem(code="E306", text=str(error), advice=advice, reason=reason))
                break
            except ValueError as error:
                site.complain("E306", str(error))
                break
