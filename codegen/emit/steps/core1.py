"""Steps on the second core: each is a C function of its own, which the entry function posts."""

from collections.abc import Iterable, Sequence

from codegen.emit.c.environment import statement
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program, second_core_steps

CORE1_HEADER = "cg_core1.h"
CORE1_SOURCE = "support/core1.c"
_TEMPLATE = "c/steps/core1.c.j2"
CORE1_WORDS = ("call", "given")
"""Names that such functions use themselves."""


def core1_function(model: str, index: int, prim: PrimFunc) -> str:
    """Name of the C function that core 1 runs for step `index`."""
    return f"{model}_core1_{index}_{prim.name}"


def core1_functions(program: Program) -> tuple[str, ...]:
    """Names of all such functions of a program."""
    prims = program.prim_funcs
    return tuple(core1_function(program.name, index, prims[index]) for index in second_core_steps(program))


def name_of(parameter: str) -> str:
    """The name in a parameter's declaration."""
    return parameter.replace("*", " ").split()[-1]


def core1_given(model: str, parameters: Iterable[Sequence[str]]) -> str:
    """The struct through which steps with these `parameters` reach what the entry function was called with;
    empty if none has any."""
    found = dict.fromkeys(each for one in parameters for each in one)
    return statement(_TEMPLATE, "given", _type(model), list(found)) if found else ""


def core1_text(model: str, function: str, parameters: Sequence[str], lines: list[str], call: str) -> str:
    """The definition of such a function: what it is given, declarations, the call."""
    names = [name_of(each) for each in parameters]
    declared = [(each[: -len(name)], name) for each, name in zip(parameters, names, strict=True)]
    return statement(_TEMPLATE, "function", _type(model), function, declared, lines, call)


def core1_post(model: str, function: str, parameters: Sequence[str], local: str) -> str:
    """The statements in the step's place, where core 0 waits; `local` is a free name for what is given."""
    fields = [name_of(each) for each in parameters]
    return statement(_TEMPLATE, "post", _type(model), function, fields, local)


def _type(model: str) -> str:
    return f"{model}_core1_call"
