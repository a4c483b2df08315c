"""Parameter structs: nested designated initialisers, laid out as clang-format leaves them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import cast

from codegen.emit.c.c_text import COLUMNS, assignment
from codegen.emit.c.literals import scalar
from codegen.emit.c.program_names import c_name, constant_pool, pool_array
from codegen.emit.values.constants import part_address
from codegen.kernels.call import CallArg, ConstantPointer, CStruct, StructArg, StructPointer
from codegen.kernels.primfunc import PrimFunc
from codegen.program.constants import ConstantPool
from codegen.program.program import Bundle, Program

Addresses = Mapping[tuple[str, str], str]
"""(primfunc, role) -> C expression of the linked constant's first element."""

StructNames = Mapping[tuple[str, str], str]
"""(primfunc, suffix) -> C name of the struct: another primfunc's where the two are equal."""

_DEEPER = " " * 4


def constant_addresses(bundle: Bundle, program: Program, base: str = "") -> Addresses:
    """Where every linked constant of a program lies; merged ones are the same member, or a part of one.
    `base`: the pointer to the image of constants, empty where they are linked."""
    own = {bundle.users[program.name, prim.name]: prim.name for prim in program.prim_funcs}
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
    first: dict[str, str] = {}
    texts: list[str] = []
    for prim in prims:
        for struct in prim.structs:
            key, own = (prim.name, struct.suffix), _own_name(prim, struct.suffix)
            if key in local:
                continue
            text = struct_text(prim, struct, constants, names)
            content = text.replace(f" {own}[]" if struct.is_array else f" {own} ", " ", 1)
            if content not in first:
                first[content] = own
                texts.append(text)
            names[key] = first[content]
    return tuple(texts), names


def struct_name(prim: PrimFunc, suffix: str, names: StructNames) -> str:
    """C name of a parameter struct, its own or that of an equal one."""
    return names.get((prim.name, suffix), _own_name(prim, suffix))


def _own_name(prim: PrimFunc, suffix: str) -> str:
    return f"{prim.name}_{suffix}"


def struct_text(
    prim: PrimFunc, struct: CStruct, constants: Addresses, names: StructNames, indent: str = ""
) -> str:
    """The definition of one parameter struct, static or, with `indent`, local to a function.

    Raises ValueError for a field that C cannot express.
    """
    fields, deeper = _Field(prim, constants, names), f"{indent}{_DEEPER}"
    rows = [row for name, value in struct.fields for row in fields.rows(name, value, deeper)]
    count = "[]" if struct.is_array else ""
    storage = "" if indent else "static "
    head = f"{indent}{storage}const {struct.c_type} {_own_name(prim, struct.suffix)}{count} = {{"
    return "\n".join([head, *rows, f"{indent}}};"])


def local_structs(prim: PrimFunc, wanted: Iterable[CallArg] | None = None) -> tuple[CStruct, ...]:
    """Structs of a PrimFunc that hold the address of a constant, which external constants have at run time
    only, and those that point to such; `wanted`: only those that these arguments lead to."""
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
    return tuple(struct for struct in found if _holds_address(struct, by_suffix))


def _holds_address(struct: CStruct, by_suffix: Mapping[str, CStruct]) -> bool:
    return any(
        isinstance(pointer, ConstantPointer) or _holds_address(by_suffix[pointer.suffix], by_suffix)
        for pointer in _pointers(struct.fields)
    )


def _pointers(value: object) -> Iterator[ConstantPointer | StructPointer]:
    """All addresses in a field or in what it nests."""
    if isinstance(value, ConstantPointer | StructPointer):
        yield value
    for _, inner in _fields(value):
        yield from _pointers(inner)


class _Field:
    def __init__(self, prim: PrimFunc, constants: Addresses, names: StructNames) -> None:
        self._prim = prim
        self._names = names
        self._constants = constants

    def rows(self, name: str, value: object, indent: str) -> list[str]:
        """A field on one line if it fits; a struct of structs is broken up for the eye."""
        line = f"{indent}{_designator(name)} = {self._initialiser(value)},"
        if len(line) <= COLUMNS and not _is_deep(value):
            return [line]
        fields = tuple(_fields(value))
        if not fields:
            return [f"{assignment(f'{indent}{_designator(name)}', self._initialiser(value))[:-1]},"]
        inner = [row for n, v in fields for row in self.rows(n, v, f"{indent}{_DEEPER}{_DEEPER}")]
        return [f"{indent}{_designator(name)} =", f"{indent}{_DEEPER}{{", *inner, f"{indent}{_DEEPER}}},"]

    def _initialiser(self, value: object) -> str:
        match value:
            case None:
                return "NULL"
            case bool() | int() | float():
                return scalar(value)
            case ConstantPointer(role=role):
                return self._constants[self._prim.name, role]
            case StructPointer(suffix=suffix):
                return struct_name(self._prim, suffix, self._names)
            case _:
                inner = ", ".join(f"{_designator(n)} = {self._initialiser(v)}" for n, v in _fields(value))
        if not inner:
            raise ValueError(f"{self._prim.name}: a field {value!r} has no form in C")
        return f"{{{inner}}}"


def _designator(name: str) -> str:
    """What a field's initialiser begins with: `.name`, in arrays `[index]`."""
    return name if name.startswith("[") else f".{name}"


def _fields(value: object) -> Iterator[tuple[str, object]]:
    """The fields of a nested struct; nothing for any other value."""
    if not isinstance(value, tuple):
        return
    for field in cast("tuple[object, ...]", value):
        pair = cast("tuple[object, ...]", field) if isinstance(field, tuple) else ()
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(f"a nested struct field is (name, value), not {field!r}")
        yield pair[0], pair[1]


def _is_deep(value: object) -> bool:
    """Whether a field holds structs that hold structs."""
    return any(isinstance(inner, tuple) for _, inner in _fields(value))
