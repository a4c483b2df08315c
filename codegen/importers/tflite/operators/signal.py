"""Custom operators of TFLM's audio front end, whose options are a map in flexbuffers."""

import struct
from collections.abc import Mapping
from typing import Any

from flatbuffers import flexbuffers

from codegen.importers.limits import MAX_OPTION_BYTES
from codegen.importers.reporting import Refused
from codegen.importers.tflite.file.reader import FileOperator
from codegen.importers.tflite.operators.site import Site, Translated
from codegen.ir.ops import WindowAttrs

_MAX_OPTIONS = 32
"""More than any operator of the library has."""
_DAMAGES = (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError, struct.error)
"""What the reader of flexbuffers raises for bytes that are none."""


def window(site: Site) -> Translated:
    """SignalWindow."""
    site.need_inputs(2, 2)
    options = integer_options(site.operator)
    return Translated(
        op="SIGNAL_WINDOW", args=site.args(2), attrs=WindowAttrs(shift=_option(options, "shift"))
    )


def _option(options: Mapping[str, int], name: str) -> int:
    if name not in options:
        found = ", ".join(sorted(options)) or "none"
        raise Refused("E303", f'has no option "{name}" that is a whole number; found: {found}')
    return options[name]


def integer_options(operator: FileOperator) -> Mapping[str, int]:
    """The options of a custom operator that are whole numbers or truth values, by name; nested ones are not
    followed. Raises Refused for bytes that are no map."""
    if operator.custom_option_bytes > MAX_OPTION_BYTES:
        text = f"has {operator.custom_option_bytes} bytes of options, supported are {MAX_OPTION_BYTES}"
        raise Refused("E305", text)
    reader: Any = flexbuffers
    try:
        root = reader.GetRoot(bytearray(operator.custom_options))
        if not root.IsMap:
            raise ValueError
        entries = root.AsMap
        if len(entries) > _MAX_OPTIONS:
            raise ValueError
        keys, values = entries.Keys, entries.Values
        found: dict[str, int] = {}
        for index in range(len(entries)):
            value = values[index]
            if value.IsInt or value.IsBool:
                found[str(keys[index].AsKey)] = int(value.AsInt)
        return found
    except _DAMAGES as error:
        count = operator.custom_option_bytes
        text = f"has {count} bytes of options that are no flexbuffers map of up to {_MAX_OPTIONS} entries"
        raise Refused("E303", text, "convert the model again with TFLM's signal library") from error
