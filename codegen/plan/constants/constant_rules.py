"""What users say of where constants lie: `[[constant]]` of codegen.toml."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codegen.ir.ops.user import operator_name
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantRule:
    """Constants of steps of `op`, of the step called `name`, and larger than `larger_than` bytes lie in
    `memory`; what is not given permits any. Of several rules the first that applies counts."""

    memory: str
    op: str | None = None
    name: str | None = None
    """Of the step, as reports have it, or of the tensor it computes, as the file has it."""
    larger_than: int = 0
    where: str = "constants"
    """How messages call the rule."""

    def __str__(self) -> str:
        words = [f"{key} = {value!r}" for key, value in (("op", self.op), ("name", self.name)) if value]
        words += [f"larger_than = {self.larger_than}"] if self.larger_than else []
        return ", ".join(words) or "all constants"

    def applies(self, prim: PrimFunc, constant: LinkedConstant) -> bool:
        """Whether it says where `constant` of `prim` lies."""
        names = constant.steps or (prim.name, prim.let.var.origin)
        op = constant.op or operator_name(prim.let.call)
        return (
            constant.data.nbytes > self.larger_than
            and self.op in (None, op)
            and (self.name is None or self.name in names)
        )


def with_scopes(prim: PrimFunc, rules: Sequence[ConstantRule]) -> tuple[LinkedConstant, ...]:
    """The constants of `prim`, each in the memory that the first rule that applies names."""
    found: list[LinkedConstant] = []
    for constant in prim.constants:
        rule = next((rule for rule in rules if rule.applies(prim, constant)), None)
        found.append(constant if rule is None else replace(constant, memory_scope=rule.memory))
    return tuple(found)


def unused(rules: Sequence[ConstantRule], prim_funcs: Sequence[PrimFunc]) -> list[ConstantRule]:
    """Rules that apply to nothing, whatever other rules say."""
    return [
        rule
        for rule in rules
        if not any(rule.applies(prim, constant) for prim in prim_funcs for constant in prim.constants)
    ]
