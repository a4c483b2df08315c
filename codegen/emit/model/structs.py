"""Parameter structs: nested designated initialisers, and the addresses of constants in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import cast

from codegen.emit.c.c_text import statement
from codegen.emit.c.formula_text import SizeText
from codegen.emit.c.spelling import c_name, constant_pool, pool_array, scalar
from codegen.emit.values.model_data import part_address
from codegen.ir.formulas import Formula
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


def constant_addresses(bundle: Bundle, program: Program, base: str = "") -> Addresses:
    """Where every linked constant of a program lies; merged ones are the same member, or a part of one.
    `base`: the pointer to the image of constants, empty where they are linked."""
    own = {bundle.users[program.name, prim.name]: prim.name for prim in program.steps.prim_funcs}
    return {
        (own[part.user[0]], part.user[1]): part_address(_object(bundle, pool, base), member, part)
        for pool in bundle.constants
        for member in pool.members
        for part in member.parts
        if part.user[0] in own
    }


def _object(bundle: Bundle, pool: ConstantPool, base: str) -> str:
    """C expression of a constant pool's struct."""
    name = constant_pool(bundle, pool)
    return f"{base}->{c_name(name)}" if base else pool_array(bundle, name)


def shared_structs(
    prims: Sequence[PrimFunc], constants: Addresses, local: Set[tuple[str, str]]
) -> tuple[tuple[str, ...], StructNames]:
    """Definitions of all parameter structs at file scope, equal ones once, and what each one is called; those
    in `local`, (primfunc, suffix), are defined elsewhere. Raises ValueError as `struct_text` does."""
    names: dict[tuple[str, str], str] = {}
    first: dict[object, str] = {}
    texts: list[str] = []
    for prim in prims:
        for struct in prim.structs:
            if (prim.name, struct.suffix) in local:
                continue
            content = (struct.c_type, struct.is_array, _FieldValues(prim, constants, names).of(struct.fields))
            if content not in first:
                first[content] = _own_name(prim, struct.suffix)
                texts.append(struct_text(prim, struct, constants, names))
            names[prim.name, struct.suffix] = first[content]
    return tuple(texts), names


def struct_name(prim: PrimFunc, suffix: str, names: StructNames) -> str:
    """C name of a parameter struct, its own or that of an equal one."""
    return names.get((prim.name, suffix), _own_name(prim, suffix))


def _own_name(prim: PrimFunc, suffix: str) -> str:
    return f"{prim.name}_{suffix}"


def struct_text(
    prim: PrimFunc,
    struct: CStruct,
    constants: Addresses,
    names: StructNames,
    indent: str = "",
    sizes: SizeText | None = None,
) -> str:
    """The definition of one parameter struct, static or, with `indent`, local to a function; `sizes` spells
    formulas in it.

    Raises ValueError for a field that C cannot express.
    """
    fields = _FieldValues(prim, constants, names, sizes).of(struct.fields)
    name = _own_name(prim, struct.suffix)
    return statement(
        "c/steps/structs.c.j2", "definition", struct.c_type, name, struct.is_array, fields, indent
    )


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
    prim: PrimFunc, late: Set[str], wanted: Iterable[CallArg] | None = None
) -> tuple[CStruct, ...]:
    """Structs of a PrimFunc that hold what is known at run time only, and those that point to such: formulas,
    and addresses of the constants `late`. `wanted`: only those that these arguments lead to."""
    by_suffix = {struct.suffix: struct for struct in prim.structs}
    waiting = list(by_suffix if wanted is None else (a.suffix for a in wanted if isinstance(a, StructArg)))
    reached: set[str] = set()
    while waiting:
        suffix = waiting.pop()
        if suffix not in reached:
            reached.add(suffix)
            pointers = _pointers(by_suffix[suffix].fields)
            waiting += [pointer.suffix for pointer in pointers if isinstance(pointer, StructPointer)]
    found = (struct for struct in prim.structs if struct.suffix in reached)
    return tuple(struct for struct in found if _is_late(struct, by_suffix, late))


def _is_late(struct: CStruct, by_suffix: Mapping[str, CStruct], late: Set[str]) -> bool:
    return any(
        isinstance(value, Formula | ChosenPointer | Narrow)
        or (isinstance(value, ConstantPointer) and value.role in late)
        or (isinstance(value, StructPointer) and _is_late(by_suffix[value.suffix], by_suffix, late))
        for value in _pointers(struct.fields)
    )


def _pointers(value: object) -> Iterator[ConstantPointer | ChosenPointer | StructPointer | Narrow | Formula]:
    """All addresses and formulas in a field or in what it nests."""
    if isinstance(value, ConstantPointer | ChosenPointer | StructPointer | Narrow | Formula):
        yield value
    for _, inner in _fields(value):
        yield from _pointers(inner)


class _FieldValues:
    """What the template writes for the fields of a struct."""

    def __init__(
        self, prim: PrimFunc, constants: Addresses, names: StructNames, sizes: SizeText | None = None
    ) -> None:
        self._prim, self._sizes = prim, sizes
        self._names = names
        self._constants = constants

    def of(self, fields: object) -> Fields:
        """(designator, value) of every field: `.name`, in arrays `[index]`."""
        return tuple(
            (name if name.startswith("[") else f".{name}", self._value(value))
            for name, value in _fields(fields)
        )

    def _value(self, value: object) -> str | Fields:
        match value:
            case None:
                return "NULL"
            case bool() | int() | float():
                return scalar(value)
            case _ if isinstance(value, Formula) and self._sizes is not None:
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
