"""Options of custom operators: a map in flexbuffers."""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from codegen.importers.limits import MAX_OPTION_BYTES
from codegen.importers.reporting import Refused
from codegen.importers.tflite.file.reader import FileOperator
from codegen.importers.tflite.operators.site import Site

_MAX_OPTIONS = 32
"""More than any operator of TFLM has."""
_DAMAGES = (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError, struct.error)
"""Errors that the reader of flexbuffers raises for bytes that are none."""


def need_outputs(site: Site, count: int) -> None:
    """Refuse the operator unless it has `count` outputs."""
    outputs = len(site.operator.outputs)
    if outputs != count:
        raise Refused("E303", f"has {outputs} outputs, needs {count}")


def option(options: Mapping[str, int], name: str) -> int:
    """A whole number among the options; raises Refused if it is not there."""
    if name not in options:
        known = ", ".join(sorted(options)) or "none"
        raise Refused("E303", f'has no option "{name}" that is a whole number; found: {known}')
    return options[name]


def real_option(options: Mapping[str, float], name: str) -> float:
    """A number among the options, as float32; raises Refused if it is not there."""
    if name not in options:
        known = ", ".join(sorted(options)) or "none"
        raise Refused("E303", f'has no option "{name}" that is a number; found: {known}')
    return float(np.float32(options[name]))


def integer_options(operator: FileOperator) -> Mapping[str, int]:
    """The options of a custom operator that are whole numbers or truth values, by name; nested ones are not
    followed. Raises Refused for bytes that are no map."""
    return {name: value for name, value in number_options(operator).items() if isinstance(value, int)}


def number_options(operator: FileOperator) -> Mapping[str, int | float]:
    """Options that are whole or real numbers, by name. Raises Refused for bytes that are no such map."""
    if operator.custom_option_bytes > MAX_OPTION_BYTES:
        text = f"has {operator.custom_option_bytes} bytes of options, supported are {MAX_OPTION_BYTES}"
        raise Refused("E305", text)
    try:
        return dict(_entries(bytearray(operator.custom_options)))
    except _DAMAGES as error:
        count = operator.custom_option_bytes
        text = f"has {count} bytes of options that are no flexbuffers map of up to {_MAX_OPTIONS} entries"
        raise Refused("E303", text, "convert the model again") from error


def _entries(data: bytearray) -> Iterator[tuple[str, int | float]]:
    reader: Any = flexbuffers
    root = reader.GetRoot(data)
    if not root.IsMap:
        raise ValueError
    entries = root.AsMap
    if len(entries) > _MAX_OPTIONS:
        raise ValueError
    keys, values = entries.Keys, entries.Values
    for index in range(len(entries)):
        value, name = values[index], str(keys[index].AsKey)
        if value.IsInt or value.IsBool:
            yield name, int(value.AsInt)
        elif value.IsFloat:
            yield name, float(value.AsFloat)
