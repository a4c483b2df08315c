"""Parameter structs: nested designated initialisers, and the addresses of constants in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import cast

from codegen.emit.c.c_text import statement
from codegen.emit.c.formula_text import SizeText
from codegen.emit.c.spelling import c_name, constant_pool, pool_array, scalar
from codegen.emit.values.model_data import part_address
from codegen.ir.numbers import Number, varies
from codegen.kernels.call import (
    CallArg,
    ChosenPointer,
    ConstantPointer,
    CStruct,
    Narrow,
    StructArg,
    StructPointer,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.program.constants import ConstantPool
from codegen.program.program import Bundle, Program

Addresses = Mapping[tuple[str, str], str]
"""(primfunc, role) -> C expression of the linked constant's first element."""

StructNames = Mapping[tuple[str, str], str]
"""(primfunc, suffix) -> C name of the struct: another primfunc's where the two are equal."""

Fields = tuple[tuple[str, "str | Fields"], ...]
"""Designators and values as C writes them, nested ones as fields again."""

_TEMPLATE = "c/steps/structs.c.j2"

_COPIED = 8
"""Fewest fields that are copied at once on a host, where they are the same in every call and fewer are
not.
To store a field costs eight bytes of code there. On ARM it costs four, and to copy takes longer.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalStruct:
    """A parameter struct that holds what is known at run time only."""

    struct: CStruct
    copied: CStruct | None
    """Fields that are the same in every call, where it pays to copy them."""
    stored: tuple[tuple[str, object], ...]
    """Designators of the other fields, and what is stored there."""


LocalStructs = Mapping[tuple[str, str], LocalStruct]
"""(primfunc, suffix) -> what its step declares."""


def constant_addresses(bundle: Bundle, program: Program, base: str = "") -> Addresses:
    """Addresses of all linked constants of a program; merged ones are the same member, or a part of one.
    `base`: the pointer to the image of constants, empty where they are linked.
    """
    prim_names = {bundle.users[program.name, prim.name]: prim.name for prim in program.steps.prim_funcs}
    return {
        (prim_names[part.user[0]], part.user[1]): part_address(_object(bundle, pool, base), member, part)
        for pool in bundle.constants
        for member in pool.members
        for part in member.parts
        if part.user[0] in prim_names
    }


def _object(bundle: Bundle, pool: ConstantPool, base: str) -> str:
    """C expression of a constant pool's struct."""
    name = constant_pool(bundle, pool)
    return f"{base}->{c_name(name)}" if base else pool_array(bundle, name)


def shared_structs(
    prims: Sequence[PrimFunc], constants: Addresses, local: LocalStructs, *, copies: bool
) -> tuple[tuple[str, ...], StructNames]:
    """Definitions of all parameter structs at file scope, equal ones once, and what each one is called; of
    those in `local` what is copied, if steps do. Raises ValueError for a field that C cannot express."""
    names: dict[tuple[str, str], str] = {}
    first: dict[object, str] = {}
    texts: list[str] = []
    for prim in prims:
        for prim_struct in prim.structs:
            known = local.get((prim.name, prim_struct.suffix))
            struct = prim_struct if known is None else known.copied if copies else None
            if struct is None:
                continue
            fields = _FieldValues(prim, constants, names).of(_without_zeros(struct.fields))
            content = (struct.c_type, struct.is_array, fields)
            name = _own_name(prim, struct.suffix)
            if content not in first:
                first[content] = name
                texts.append(statement(_TEMPLATE, "definition", struct.c_type, name, struct.is_array, fields))
            names[prim.name, struct.suffix] = first[content]
    return tuple(texts), names


def struct_name(prim: PrimFunc, suffix: str, names: StructNames) -> str:
    """C name of a parameter struct, its own or that of an equal one."""
    return names.get((prim.name, suffix), _own_name(prim, suffix))


def borrowed_structs(prim: PrimFunc, names: StructNames) -> tuple[str, ...]:
    """C names of the equal structs that stand for structs of this step, in the order of its own."""
    used = {struct.suffix: struct_name(prim, struct.suffix, names) for struct in prim.structs}
    return tuple(name for suffix, name in used.items() if name != _own_name(prim, suffix))


def _own_name(prim: PrimFunc, suffix: str) -> str:
    return f"{prim.name}_{suffix}"


def local_text(
    prim: PrimFunc,
    local: LocalStruct,
    constants: Addresses,
    names: StructNames,
    indent: str,
    sizes: SizeText | None = None,
) -> str:
    """The declaration of a parameter struct in a function; `sizes` spells formulas in it.

    Raises ValueError for a field that C cannot express.
    """
    values, struct = _FieldValues(prim, constants, names, sizes), local.struct
    name = _own_name(prim, struct.suffix)
    source = None if local.copied is None else names.get((prim.name, local.copied.suffix))
    if source is None:
        fields = values.of(struct.fields)
        return statement(_TEMPLATE, "definition", struct.c_type, name, struct.is_array, fields, indent)
    return statement(_TEMPLATE, "copy", struct.c_type, name, source, values.of(local.stored), indent)


def late_constants(
    prim: PrimFunc, constants: Addresses, sizes: SizeText | None, external: bool
) -> frozenset[str]:
    """The constants, by role, of which only the run knows where they are: `external` ones, and those whose
    copies lie elsewhere at other sizes."""
    return frozenset(
        constant.role
        for constant in prim.constants
        if external or (sizes is not None and sizes.declarations([constants[prim.name, constant.role]]))
    )


def local_structs(
    prim: PrimFunc, late: Set[str], reachable_from: Iterable[CallArg] | None = None
) -> tuple[LocalStruct, ...]:
    """Structs of a PrimFunc that hold what is known at run time only, and those that point to such: formulas,
    and addresses of the constants `late`. `reachable_from`: only those that these arguments lead to."""
    by_suffix = {struct.suffix: struct for struct in prim.structs}
    waiting = list(
        by_suffix
        if reachable_from is None
        else (a.suffix for a in reachable_from if isinstance(a, StructArg))
    )
    reached: set[str] = set()
    while waiting:
        suffix = waiting.pop()
        if suffix not in reached:
            reached.add(suffix)
            pointers = _pointers(by_suffix[suffix].fields)
            waiting += [pointer.suffix for pointer in pointers if isinstance(pointer, StructPointer)]
    structs = (struct for struct in prim.structs if struct.suffix in reached)
    return tuple(
        _local(struct, by_suffix, late) for struct in structs if _is_late(struct.fields, by_suffix, late)
    )


def _local(struct: CStruct, by_suffix: Mapping[str, CStruct], late: Set[str]) -> LocalStruct:
    """How a struct that holds what is `late` gets its fields."""

    def early(fields: object) -> tuple[tuple[str, object], ...]:
        """Fields that are the same in every call."""
        kept: list[tuple[str, object]] = []
        for name, value in _fields(fields):
            inner = early(value)
            if inner or not (isinstance(value, tuple) or _is_late(value, by_suffix, late)):
                kept.append((name, inner or value))
        return tuple(kept)

    stored = tuple(
        (path, value) for path, value in _leaves(struct.fields) if _is_late(value, by_suffix, late)
    )
    fields = early(struct.fields)
    has_sizes = any(varies(value) or isinstance(value, ChosenPointer | Narrow) for _, value in stored)
    fixed_count = 0 if struct.is_array or not has_sizes else len([*_leaves(fields)])
    pays = fixed_count >= max(_COPIED, len(stored) + 1)
    copied = replace(struct, suffix=f"{struct.suffix}_copied", fields=fields) if pays else None
    return LocalStruct(struct=struct, copied=copied, stored=stored)


def _leaves(fields: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Designators of all fields, nested ones in place of what nests them."""
    for name, value in _fields(fields):
        designators = f"{path}{_designator(name)}"
        yield from [*_leaves(value, designators)] or [(designators, value)]


def _without_zeros(fields: object) -> tuple[tuple[str, object], ...]:
    """Fields but for those that C sets to 0 where an initialiser leaves them out; elements of arrays stay."""
    every = [(name, _without_zeros(value) or value) for name, value in _fields(fields)]
    return tuple(pair for pair in every if pair[0].startswith("[") or not _is_zero(pair[1])) or tuple(
        every[:1]
    )


def _is_zero(value: object) -> bool:
    """True for 0 and NULL, and for structs that hold nothing else."""
    if isinstance(value, tuple):
        return all(_is_zero(inner) for _, inner in _fields(cast("object", value)))
    return value is None or (isinstance(value, int) and not value)


def _designator(name: str) -> str:
    return name if name.startswith(("[", ".")) else f".{name}"


def _is_late(held: object, by_suffix: Mapping[str, CStruct], late: Set[str]) -> bool:
    """True if a field, or one that it nests, is known at run time only."""
    return any(
        varies(value)
        or isinstance(value, ChosenPointer | Narrow)
        or (isinstance(value, ConstantPointer) and value.role in late)
        or (isinstance(value, StructPointer) and _is_late(by_suffix[value.suffix].fields, by_suffix, late))
        for value in _pointers(held)
    )


def _pointers(value: object) -> Iterator[ConstantPointer | ChosenPointer | StructPointer | Narrow | Number]:
    """All addresses and formulas in a field or in what it nests."""
    if varies(value) or isinstance(value, ConstantPointer | ChosenPointer | StructPointer | Narrow):
        yield value
    for _, inner in _fields(value):
        yield from _pointers(inner)


class _FieldValues:
    """Text that the template writes for the fields of a struct."""

    def __init__(
        self, prim: PrimFunc, constants: Addresses, names: StructNames, sizes: SizeText | None = None
    ) -> None:
        self._prim, self._sizes = prim, sizes
        self._names = names
        self._constants = constants

    def of(self, fields: object) -> Fields:
        """(designator, value) of every field: `.name`, in arrays `[index]`."""
        return tuple((_designator(name), self._value(value)) for name, value in _fields(fields))

    def _value(self, value: object) -> str | Fields:
        match value:
            case None:
                return "NULL"
            case bool() | int() | float():
                return scalar(value)
            case _ if varies(value) and self._sizes is not None:
                return self._sizes.spelled(value)
            case Narrow(c_type=c_type, value=formula) if self._sizes is not None:
                return f"({c_type})({self._sizes.spelled(formula)})"
            case ChosenPointer(role=role, where=where) if self._sizes is not None:
                return (
                    f"({self._sizes.spelled(where)} != 0) ? {self._constants[self._prim.name, role]} : NULL"
                )
            case ConstantPointer(role=role):
                return self._constants[self._prim.name, role]
            case StructPointer(suffix=suffix):
                return struct_name(self._prim, suffix, self._names)
            case _:
                if inner := self.of(value):
                    return inner
                raise ValueError(f"{self._prim.name}: a field {value!r} has no form in C")


def _fields(value: object) -> Iterator[tuple[str, object]]:
    """The fields of a nested struct; nothing for any other value."""
    if not isinstance(value, tuple):
        return
    for field in cast("tuple[object, ...]", value):
        pair = cast("tuple[object, ...]", field) if isinstance(field, tuple) else ()
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(f"a nested struct field is (name, value), not {field!r}")
        yield pair[0], pair[1]
