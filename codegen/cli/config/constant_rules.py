"""`[[constant]]` tables of codegen.toml: in which memory constants lie."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from codegen.cli.config.toml_tables import tables
from codegen.errors import Messages
from codegen.ir.sizes import with_sizes
from codegen.plan.constants.constant_rules import ConstantRule

_KEYS: Mapping[str, type] = {"memory": str, "op": str, "name": str, "larger_than": int}
_WORDS = {str: "a string", int: 'a size: 4096, or "4K"'}
_HELP = "see docs/configuration.md"


def constant_rules(value: object, file: Path, text: str, messages: Messages) -> tuple[ConstantRule, ...]:
    """The rules that `value`, the key `constant` of `file` with `text`, states.

    Every mistake goes to `messages` (E202); a table with one gives no rule.
    """
    rows = tables(value, "constant", file, text, messages, _HELP)
    found = [_rule(table.values, table.where, messages) for table in rows]
    return tuple(rule for rule in found if rule is not None)


def _rule(given: dict[str, object], where: str, messages: Messages) -> ConstantRule | None:
    table = with_sizes(given, "larger_than")
    faults: list[str] = []
    if "memory" not in table:
        faults.append("lacks memory")
    for key, value in table.items():
        kind = _KEYS.get(key)
        if kind is None:
            faults.append(f"unknown key {key!r}: known are {', '.join(_KEYS)}")
        elif type(value) is not kind:  # true and false are integers to isinstance
            faults.append(f"{key} must be {_WORDS[kind]}")
        elif isinstance(value, int) and value < 0:
            faults.append(f"{key} is {value}, which is no size")
        elif value == "":
            faults.append(f"{key} is empty")
    for fault in faults:
        messages.add("E202", fault, where=where, help=_HELP)
    return None if faults else ConstantRule(where=where, **cast(Any, table))
