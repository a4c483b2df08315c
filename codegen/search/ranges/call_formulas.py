"""One call of a step for a whole range of sizes: formulas replace the numbers that differ between sizes.

A member is one choice of sizes of the range, at which the network was searched or bound.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from codegen.ir.formulas import Formula, Whole
from codegen.ir.ranged import NamedSizes, Unlike
from codegen.kernels.call import CallArg, ChosenPointer, ConstantPointer, CStruct, LiteralArg
from codegen.kernels.primfunc import PrimFunc
from codegen.search.ranges.block_members import block_formulas
from codegen.search.ranges.late_tables import late_roles, late_structs
from codegen.search.ranges.sizes import unlike


def call_of_all(prim: PrimFunc, searched: PrimFunc, every: Sequence[PrimFunc], names: NamedSizes) -> PrimFunc:
    """Make one call of a step that is right at all members of a range.

    `every` is the step bound at each member, `prim` the one at the last member, which has the largest sizes.
    `searched` is the step as the search made it, with its constants as they are linked.
    """
    formulas = _CallFormulas(prim, names)
    structs = tuple(
        formulas.struct([member.structs[position] for member in every])
        for position in range(len(prim.structs))
    )
    args = tuple(
        formulas.argument([member.call_args[position] for member in every])
        for position in range(len(prim.call_args))
    )
    late = late_roles(every)
    if late:
        structs = late_structs(every, structs, late, formulas.table_entry)
    blocks = [member.block for member in every if member.block is not None]
    linked = {constant.role: constant for constant in searched.constants}
    roles = {constant.role: constant for member in every for constant in member.constants}
    return replace(
        searched,
        let=prim.let,
        structs=structs,
        call_args=args,
        block=block_formulas(blocks, formulas.field) if blocks else None,
        constants=tuple(linked.get(role, constant) for role, constant in roles.items() if role not in late),
    )


class _CallFormulas:
    """Merge the structs and arguments of a step's calls, one call a member, into those of one call."""

    def __init__(self, prim: PrimFunc, names: NamedSizes) -> None:
        """`prim` is the step at the last member; `names` are the sizes that formulas may use."""
        self._prim, self._fitter = prim, names.fitter

    def table_entry(self, values: Whole) -> Formula:
        """The formula of a table's number, from its value at each member. Raises Unlike if there is none."""
        formula = self._fitter.formula(values)
        if formula is None:
            where, kernel = self._prim.let.where, self._prim.kernel
            raise unlike(self._prim, f"{where}: a table of {kernel} follows no formula")
        return formula

    def _formula_or_table(self, values: Whole, said: str) -> Formula:
        formula = self._fitter.formula(values) or self._fitter.table(values)
        if formula is None:
            raise Unlike(f"{said} follows no formula: {sorted({int(value) for value in values})[:8]} ...")
        return formula

    def struct(self, every: Sequence[CStruct]) -> CStruct:
        """One parameter struct from that of each member."""
        fields = self.field([struct.fields for struct in every])
        return replace(every[-1], fields=cast("tuple[tuple[str, object], ...]", fields))

    def field(self, every: Sequence[object]) -> object:
        """One field of a struct, or one number of a block, from that of each member."""
        last = every[-1]
        if all(value == last for value in every):
            return last
        rows = [cast("tuple[object, ...]", row) for row in every if isinstance(row, tuple)]
        if len(rows) == len(every) and len({len(row) for row in rows}) == 1:
            return tuple(self.field([row[i] for row in rows]) for i in range(len(rows[-1])))
        if all(type(value) is int for value in every):
            said = f"{self._prim.let.where}: {self._prim.kernel}"
            return self._formula_or_table(np.array(every, np.int64), said)
        roles = {pointer.role for pointer in every if isinstance(pointer, ConstantPointer)}
        if len(roles) == 1 and all(
            pointer is None or isinstance(pointer, ConstantPointer) for pointer in every
        ):
            where = np.array([pointer is not None for pointer in every], np.int64)
            return ChosenPointer(role=roles.pop(), where=self._formula_or_table(where, self._prim.let.where))
        raise unlike(
            self._prim,
            f"a parameter of {self._prim.kernel} is {last!r} at the largest sizes, another elsewhere",
        )

    def argument(self, every: Sequence[CallArg]) -> CallArg:
        """One argument of the call from that of each member."""
        last = every[-1]
        if all(argument == last for argument in every):
            return last
        values = [argument.value for argument in every if isinstance(argument, LiteralArg)]
        if len(values) != len(every):
            raise Unlike(f"{self._prim.let.where} is called in another way there")
        field = self.field(values)
        assert not isinstance(field, tuple)
        return LiteralArg(value=field)  # pyright: ignore[reportArgumentType]
