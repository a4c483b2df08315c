"""A board file with mistakes, made decodable: contradictions in the rest are then told at once too."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

_REGION = re.compile(r"regions\[(\d+)\]")
_REQUIRED: Mapping[str, Any] = {
    "name": "x",
    "title": "x",
    "runner": "none",
    "stack_bytes": 256,
    "reserved_bytes": 1 << 16,
    "code_region": "X",
    "data_region": "X",
    "target": {"cpu": "x"},
    "regions": [],
}
"""Stand-ins for fields a board cannot lack; what the checks say of them is not told."""

_FOLLOW_REGIONS = ("code_region", "data_region", "reserved_bytes")
"""Fields whose checks look at regions: silent where a region is not known."""


def repaired(table: Mapping[str, Any], faulty: Iterable[str]) -> tuple[dict[str, Any], frozenset[str]]:
    """`table` with the fields at the `faulty` paths replaced or left out, and the paths not to complain of.

    A region with a mistake keeps its name and its place in the list, as neighbours and fields refer to them.
    """
    silent = {_field(path) for path in faulty}
    result = dict(table)
    for field in silent - {path for path in silent if _REGION.fullmatch(path)}:
        result.pop(field, None)
    for field in _REQUIRED.keys() - result.keys():
        result[field] = _REQUIRED[field]
        silent.add(field)
    if "regions" in silent or any(_REGION.fullmatch(path) for path in silent):
        silent |= set(_FOLLOW_REGIONS)
    if isinstance(result["regions"], list):
        result["regions"] = [
            _stand_in(index, region) if f"regions[{index}]" in silent else region
            for index, region in enumerate(result["regions"])  # type: ignore[reportUnknownArgumentType]
        ]
    return result, frozenset(silent)


def is_silent(path: str, silent: frozenset[str]) -> bool:
    """Whether a complaint about `path` only follows from a mistake told already."""
    return _field(path) in silent


def _field(path: str) -> str:
    """`regions[1].address` -> `regions[1]`; `uart.baud`, `holes[0].address` -> `uart`, `holes`."""
    region = _REGION.match(path)
    return region[0] if region else re.split(r"[.\[]", path, maxsplit=1)[0]


def _stand_in(index: int, region: Any) -> dict[str, Any]:
    known = cast(Mapping[str, Any], region) if isinstance(region, dict) else dict[str, Any]()
    name, writable = known.get("name"), known.get("writable")
    return {
        "name": name if isinstance(name, str) and name == name.upper() else f"X{index}",
        "address": 0xF000_0000 + (index << 20),
        "size_bytes": 1 << 20,
        "writable": writable if isinstance(writable, bool) else True,
    }
