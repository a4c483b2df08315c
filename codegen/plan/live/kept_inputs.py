"""Inputs whose bytes outlast the inference: all, none, or those of a set of names."""

from codegen.ir import Function

Keep = bool | frozenset[str]
"""All inputs, none, or those of these names."""


def kept_inputs(function: Function, keep: Keep) -> frozenset[str]:
    """Names of the inputs of `function` that must be intact when the last step is done."""
    names = frozenset(param.name for param in function.params)
    if isinstance(keep, bool):
        return names if keep else frozenset()
    return names & keep


def keeping(keep: Keep, *more: str) -> Keep:
    """`keep`, and the inputs `more` as well."""
    if isinstance(keep, bool):
        return keep or frozenset(more)
    return keep | frozenset(more)
