"""Small tables of kernels whose numbers depend on the sizes: the step fills them, in front of its call.

Such are offsets of a window's values in an image whose rows are as long as the call says.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from codegen.ir.formulas import Formula, Whole
from codegen.kernels.call import CallArg, ConstantArg, ConstantPointer, CStruct, Narrow, StructPointer
from codegen.kernels.primfunc import PrimFunc
from codegen.search.ranges.sizes import unlike

_ENTRIES = 128
"""Most entries of a table: it lies on the stack, and takes about four bytes of code an entry."""

_C_TYPES: Mapping[str, str] = {"int8": "int8_t", "int16": "int16_t", "int32": "int32_t"}

Data = NDArray[np.generic]


def may_be_late(one: Data, other: Data) -> bool:
    """True if two that differ may be one table that a step fills."""
    alike = one.shape == other.shape and one.dtype == other.dtype
    return alike and one.dtype.name in _C_TYPES and one.size <= _ENTRIES


def late_roles(every: Sequence[PrimFunc]) -> frozenset[str]:
    """Constants of a step that differ between its members."""
    first: dict[str, Data] = {}
    roles: set[str] = set()
    for member in every:
        for constant in member.constants:
            if not np.array_equal(first.setdefault(constant.role, constant.data), constant.data):
                roles.add(constant.role)
    return frozenset(roles)


def late_structs(
    every: Sequence[PrimFunc],
    structs: Sequence[CStruct],
    roles: frozenset[str],
    formula: Callable[[Whole], Formula],
) -> tuple[CStruct, ...]:
    """`structs` with tables in place of the constants `roles`, these first. Raises Unlike where a member has
    no such constant, or the call is handed it by itself."""
    tables: list[CStruct] = []
    for role in sorted(roles):
        rows = [c.data.reshape(-1) for member in every for c in member.constants if c.role == role]
        if len(rows) != len(every) or any(_names(arg, role) for arg in every[-1].call_args):
            raise unlike(every[-1], f"{every[-1].kernel} packs other constants at some sizes")
        c_type = _C_TYPES[rows[-1].dtype.name]
        known: dict[bytes, object] = {}
        fields: list[tuple[str, object]] = []
        for index, column in enumerate(np.stack(rows, axis=1).astype(np.int64)):
            key = column.tobytes()
            if key not in known:
                same = column.min() == column.max()
                known[key] = int(column[0]) if same else Narrow(c_type=c_type, value=formula(column))
            fields.append((f"[{index}]", known[key]))
        tables.append(CStruct(suffix=_suffix(role), c_type=c_type, fields=tuple(fields), is_array=True))
    return (*tables, *(_pointing(struct, roles) for struct in structs))


def _suffix(role: str) -> str:
    return f"{role}_table"


def _names(arg: CallArg, role: str) -> bool:
    return isinstance(arg, ConstantArg) and arg.role == role


def _pointing(struct: CStruct, roles: frozenset[str]) -> CStruct:
    fields = cast("tuple[tuple[str, object], ...]", _pointed(struct.fields, roles))
    return CStruct(suffix=struct.suffix, c_type=struct.c_type, fields=fields, is_array=struct.is_array)


def _pointed(value: object, roles: frozenset[str]) -> object:
    if isinstance(value, ConstantPointer) and value.role in roles:
        return StructPointer(suffix=_suffix(value.role))
    if isinstance(value, tuple):
        return tuple(_pointed(element, roles) for element in cast("tuple[object, ...]", value))
    return value
