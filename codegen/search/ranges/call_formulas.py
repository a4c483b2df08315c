"""Formulas in place of the numbers in which a step's calls differ between members."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import cast

import numpy as np
from numpy.typing import NDArray

from codegen.ir.formulas import Formula, Whole, named
from codegen.ir.ranged import NamedSizes, Unlike
from codegen.kernels.block import Block
from codegen.kernels.call import (
    ArrayArg,
    CallArg,
    ChosenPointer,
    ConstantArg,
    ConstantPointer,
    CStruct,
    LiteralArg,
    StructArg,
    StructPointer,
)
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.loop import InnerArg, InnerPlace, LoopBody, OtherCall
from codegen.kernels.primfunc import PrimFunc
from codegen.search.ranges.block_members import block_formulas
from codegen.search.ranges.late_tables import late_roles, late_structs
from codegen.search.ranges.sizes import unlike

Kept = Mapping[str, LinkedConstant]
"""Role -> a constant as the search left it."""


def call_of_all(
    prim: PrimFunc, own: PrimFunc, every: Sequence[PrimFunc], names: NamedSizes, part: str
) -> PrimFunc:
    """`own`, a step as the search found it, with formulas where `every`, the step at all members, differs;
    `prim` is the last of them, `part` the name of the size that says in which part of the range a call is.

    Where parts call other C functions, each has its own parameters and arguments (`OtherCall`).
    """
    symbols = np.array([each.symbol for each in every])
    is_own = symbols == prim.symbol
    main = _Group(prim, names, part, is_own).merged(list(compress(every, is_own)))
    linked = {constant.role: constant for constant in own.constants}
    constants = {role: linked.get(role, constant) for role, constant in main.constants.items()}
    found = replace(own, let=prim.let, structs=main.structs, call_args=main.call_args, block=main.block)
    for number in np.unique(names.parts[~is_own]).tolist():
        here = names.parts == number
        there = list(compress(every, here))
        last = there[-1]
        other = _Group(last, names, part, here).merged(there).beside(constants, number)
        constants |= other.constants
        call = OtherCall(
            part=named(part),
            number=number,
            symbol=last.symbol if other.loop is None else f"{last.symbol}_{number}",
            call_args=other.call_args,
            loop=other.loop,
        )
        found = replace(
            found,
            structs=(*found.structs, *other.structs),
            sources=_once((*found.sources, *last.sources)),
            headers=_once((*found.headers, *last.headers)),
            elsewhere=(*found.elsewhere, call),
        )
    return replace(found, constants=tuple(constants.values()))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Call:
    """What a C function is called with."""

    structs: tuple[CStruct, ...]
    call_args: tuple[CallArg, ...]
    block: Block | None
    loop: LoopBody | None
    constants: Kept

    def beside(self, constants: Kept, number: int) -> "_Call":
        """The same, called beside another function: with names of its own, but for constants that are as
        `constants` has them."""
        roles = {role: _role(each, constants) or f"{role}_{number}" for role, each in self.constants.items()}
        suffixes = {each.suffix: f"{each.suffix}_{number}" for each in self.structs}

        def value(own: object) -> object:
            match own:
                case ConstantPointer() | ChosenPointer() | ConstantArg():
                    return replace(own, role=roles[own.role])
                case StructPointer() | StructArg():
                    return replace(own, suffix=suffixes[own.suffix])
                case ArrayArg(items=items):
                    return replace(own, items=value(items))
                case InnerPlace(base=base):
                    return replace(own, base=value(base))
                case tuple():
                    return tuple(value(each) for each in cast("tuple[object, ...]", own))
                case _:
                    return own

        return replace(
            self,
            structs=tuple(
                replace(
                    each,
                    suffix=suffixes[each.suffix],
                    fields=cast("tuple[tuple[str, object], ...]", value(each.fields)),
                )
                for each in self.structs
            ),
            call_args=cast("tuple[CallArg, ...]", value(self.call_args)),
            loop=self.loop and self.loop.called_with(lambda arg: cast("InnerArg", value(arg))),
            constants={roles[role]: replace(each, role=roles[role]) for role, each in self.constants.items()},
        )


def _role(constant: LinkedConstant, known: Kept) -> str | None:
    """How a constant with the same numbers is called, if there is one."""
    same = (role for role, each in known.items() if np.array_equal(each.data, constant.data))
    return next(same, None)


class _Group:
    """Members at which a step is a call of one C function."""

    def __init__(self, prim: PrimFunc, names: NamedSizes, part: str, here: NDArray[np.bool_]) -> None:
        """`here`: which members these are; `prim`: the step at the last of them."""
        self._prim, self._names, self._part = prim, names, part
        self._is_all = bool(here.all())
        self._fitter = names.fitter if self._is_all else names.fitter.of(here)

    def merged(self, every: Sequence[PrimFunc]) -> _Call:
        """Their calls as one."""
        prim = self._prim
        structs = tuple(
            self._struct([each.structs[position] for each in every]) for position in range(len(prim.structs))
        )
        args = tuple(
            self._arg([each.call_args[position] for each in every]) for position in range(len(prim.call_args))
        )
        late = late_roles(every)
        if late:
            said = f"{prim.let.where}: a table of {prim.kernel}"
            structs = late_structs(every, structs, late, lambda values: self._formula(values, said))
        blocks = [each.block for each in every if each.block is not None]
        return _Call(
            structs=structs,
            call_args=args,
            block=block_formulas(blocks, self._field) if blocks else None,
            loop=prim.loop,
            constants={c.role: c for each in every for c in each.constants if c.role not in late},
        )

    def _formula(self, values: Whole, said: str) -> Formula:
        found = self._fitter.formula(values)
        if found is None:
            raise unlike(self._prim, f"{said} follows no formula")
        return found

    def _formula_or_table(self, values: Whole, said: str) -> Formula:
        found = self._fitter.formula(values) or self._fitter.table(values)
        if found is None:
            raise Unlike(f"{said} follows no formula: {sorted({int(value) for value in values})[:8]} ...")
        return found

    def _struct(self, every: Sequence[CStruct]) -> CStruct:
        found = self._field([each.fields for each in every])
        return replace(every[-1], fields=cast("tuple[tuple[str, object], ...]", found))

    def _field(self, every: Sequence[object]) -> object:
        last = every[-1]
        if all(each == last for each in every):
            return last
        rows = [cast("tuple[object, ...]", each) for each in every if isinstance(each, tuple)]
        if len(rows) == len(every) and len({len(row) for row in rows}) == 1:
            return tuple(self._field([row[i] for row in rows]) for i in range(len(rows[-1])))
        if all(type(each) is int for each in every):
            return self._number(np.array(every, np.int64))
        roles = {each.role for each in every if isinstance(each, ConstantPointer)}
        if len(roles) == 1 and all(each is None or isinstance(each, ConstantPointer) for each in every):
            where = np.array([each is not None for each in every], np.int64)
            return ChosenPointer(role=roles.pop(), where=self._formula_or_table(where, self._prim.let.where))
        raise unlike(
            self._prim,
            f"a parameter of {self._prim.kernel} is {last!r} at the largest sizes, another elsewhere",
        )

    def _number(self, values: Whole) -> Formula:
        """The formula of a parameter; one that differs between parts of the range gets a name, which tables
        of the kernel follow from."""
        found = self._formula_or_table(values, f"{self._prim.let.where}: {self._prim.kernel}")
        name = f"{self._prim.name}_width".replace(".", "_")
        is_named = self._is_all and self._part and name not in self._fitter.values
        if not is_named or found != self._fitter.by_part_alone(values):
            return found
        self._names.add(name, found, values, f"taken at once by {self._prim.name}")
        return named(name)

    def _arg(self, every: Sequence[CallArg]) -> CallArg:
        last = every[-1]
        if all(each == last for each in every):
            return last
        values = [each.value for each in every if isinstance(each, LiteralArg)]
        if len(values) != len(every):
            raise Unlike(f"{self._prim.let.where} is called in another way there")
        found = self._field(values)
        assert not isinstance(found, tuple)
        return LiteralArg(value=found)  # pyright: ignore[reportArgumentType]
