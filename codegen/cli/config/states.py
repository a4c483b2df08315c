"""`[[state]]` tables of codegen.toml: outputs that are inputs of the next inference."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from codegen.cli.config.toml_tables import tables
from codegen.errors import Messages
from codegen.ir.rules.states import StateRule

_KEYS = ("input", "output", "model")
_HELP = "see docs/configuration.md"


def declared_states(value: object, file: Path, text: str, messages: Messages) -> tuple[StateRule, ...]:
    """The states that `value`, the key `state` of `file` with `text`, declares.

    Every mistake goes to `messages` (E202); a table with one gives no state.
    """
    rows = tables(value, "state", file, text, messages, _HELP)
    found = [_state(table.values, table.where, messages) for table in rows]
    return tuple(state for state in found if state is not None)


def _state(table: Mapping[str, object], who: str, messages: Messages) -> StateRule | None:
    faults = [f"unknown key {key!r}: known keys are {', '.join(_KEYS)}" for key in table if key not in _KEYS]
    faults += [
        f"{key} must be a string"
        for key in _KEYS
        if key in table and (not isinstance(table[key], str) or not table[key])
    ]
    faults += [f"needs {key}" for key in ("input", "output") if key not in table]
    for fault in faults:
        messages.add("E202", fault, where=who, help=_HELP)
    if faults:
        return None
    return StateRule(
        who=who,
        input=cast("str", table["input"]),
        output=cast("str", table["output"]),
        model=cast("str | None", table.get("model")),
    )
