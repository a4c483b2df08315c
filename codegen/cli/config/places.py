"""`[[place]]` tables of codegen.toml: which values a user wants in which memory, or on which device."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from codegen.cli.config.toml_tables import tables
from codegen.errors import Messages
from codegen.ir import VirtualDevice
from codegen.ir.rules.places import Place

_WHAT: Mapping[str, tuple[type, ...]] = {
    "tensor": (str,),
    "op": (int, str),
    "inputs": (bool,),
    "outputs": (bool,),
}
_WHERE: Mapping[str, tuple[type, ...]] = {
    "memory": (str,),
    "target": (str,),
    "device_id": (int,),
    "reads": (str,),
}
_MODEL: Mapping[str, tuple[type, ...]] = {"model": (str,)}
_WORDS = {str: "a string", int: "an integer", bool: "true"}
_HELP = "see docs/configuration.md"


def declared_places(value: object, file: Path, text: str, messages: Messages) -> tuple[Place, ...]:
    """The places that `value`, the key `place` of `file` with `text`, declares.

    Every mistake goes to `messages` (E202); a table with one gives no place.
    """
    rows = tables(value, "place", file, text, messages, _HELP)
    found = [_place(table.values, table.where, messages) for table in rows]
    return tuple(place for place in found if place is not None)


def _place(table: Mapping[str, object], who: str, messages: Messages) -> Place | None:
    faults = list(_faults(table))
    for fault in faults:
        messages.add("E202", fault, where=who, help=_HELP)
    if faults:
        return None
    device = VirtualDevice(
        target=cast("str | None", table.get("target")),
        device_id=cast("int | None", table.get("device_id")),
        memory_scope=cast("str | None", table.get("memory")),
    )
    return Place(
        who=who,
        device=device,
        tensor=cast("str | None", table.get("tensor")),
        op=cast("int | str | None", table.get("op")),
        inputs="inputs" in table,
        outputs="outputs" in table,
        reads=cast("str | None", table.get("reads")),
        model=cast("str | None", table.get("model")),
    )


def _faults(table: Mapping[str, object]) -> list[str]:
    known = {**_WHAT, **_WHERE, **_MODEL}
    faults: list[str] = []
    for key, value in table.items():
        kinds = known.get(key)
        if kinds is None:
            faults.append(f"unknown key {key!r}: known keys are {', '.join(known)}")
        elif type(value) not in kinds or value is False or value == "":  # true is an integer to isinstance
            faults.append(f"{key} must be {' or '.join(_WORDS[kind] for kind in kinds)}")
        elif isinstance(value, int) and value < 0:
            faults.append(f"{key} is {value}, it counts from 0")
    if sum(key in table for key in _WHAT) != 1:
        faults.append(f"needs exactly one of {', '.join(_WHAT)}")
    if not any(key in table for key in _WHERE):
        faults.append(f"needs at least one of {', '.join(_WHERE)}")
    if "reads" in table and "op" not in table:
        faults.append("reads is for operators: it needs op")
    return faults
