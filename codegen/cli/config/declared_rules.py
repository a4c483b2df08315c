"""`[[place]]`, `[[state]]` and `[[constant]]` of codegen.toml as rules."""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from codegen.cli.config.project_tables import ProjectFile, Row
from codegen.ir import VirtualDevice
from codegen.ir.rules import Place, StateRule
from codegen.plan.constants.constant_rules import ConstantRule
from codegen.toml.decode import Count, Name, Size

_HELP = "see docs/configuration.md"
_WHAT = ("tensor", "op", "inputs", "outputs")
_WHERE = ("memory", "target", "device_id", "reads")
_Operator = Annotated[
    Count | Name, msgspec.Meta(description="an operator: its name, or its number in the file from 0")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Keys of `[[place]]`."""

    tensor: Name | None = None
    op: _Operator | None = None
    inputs: bool = False
    outputs: bool = False
    memory: Name | None = None
    target: Name | None = None
    device_id: Count | None = None
    reads: Name | None = None
    model: Name | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _State:
    """Keys of `[[state]]`."""

    input: Name
    output: Name
    model: Name | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Constant:
    """Keys of `[[constant]]`."""

    memory: Name
    op: Name | None = None
    name: Name | None = None
    larger_than: Size = 0


def declared_places(value: object, file: ProjectFile) -> tuple[Place, ...]:
    """The places that `value`, the key `place`, declares; a table with a mistake gives none."""
    rows = map(_checked, file.rows(value, "place", _Place, _HELP))
    return tuple(_place(row) for row in rows if row.is_sound)


def _checked(row: Row) -> Row:
    """A `[[place]]`, with what its keys demand of each other told."""
    for key in ("inputs", "outputs"):
        if row.values.get(key) is False:
            row.complain(key, f"{key} must be true")
    if sum(key in row.given for key in _WHAT) != 1:
        row.complain("", f"needs exactly one of {', '.join(_WHAT)}")
    if not any(key in row.given for key in _WHERE):
        row.complain("", f"needs at least one of {', '.join(_WHERE)}")
    if "reads" in row.given and "op" not in row.given:
        row.complain("reads", "reads is for operators: it needs op")
    return row


def _place(row: Row) -> Place:
    of = dict(row.values)
    device = VirtualDevice(
        target=of.pop("target", None),
        device_id=of.pop("device_id", None),
        memory_scope=of.pop("memory", None),
    )
    return Place(who=row.where, device=device, **of)


def declared_states(value: object, file: ProjectFile) -> tuple[StateRule, ...]:
    """The states that `value`, the key `state`, declares; a table with a mistake gives none."""
    rows = file.rows(value, "state", _State, _HELP)
    return tuple(StateRule(who=row.where, **row.values) for row in rows if row.is_sound)


def constant_rules(value: object, file: ProjectFile) -> tuple[ConstantRule, ...]:
    """The rules that `value`, the key `constant`, states; a table with a mistake gives none."""
    rows = file.rows(value, "constant", _Constant, _HELP)
    return tuple(ConstantRule(where=row.where, **row.values) for row in rows if row.is_sound)
