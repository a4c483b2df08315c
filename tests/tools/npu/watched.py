"""Memory that a core's program and the functional model share, each with its own sight (npu_watch.h)."""

# pyright: reportPrivateUsage=false

import ctypes
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from codegen.ethos_u import functional_model as model

LINE = 32
WRITTEN, KEPT = 1, 2
_WEIGHTS = 1 << 12
_ARRAYS = ("core", "memory", "agreed", "states")


class _Watch(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        ("length", ctypes.c_size_t),
        ("knows_writes", ctypes.c_bool),
    )


class Watched:
    """`core` is the program's array; the hooks give the name of a fault, or None."""

    def __init__(self, length: int) -> None:
        self._pool = np.full(length + LINE, 0xAA, np.uint8)
        start = -self._pool.ctypes.data % LINE
        self.core = self._pool[start : start + length]
        self.memory, self._agreed, self._states = (np.zeros(length, np.uint8) for _ in range(3))
        arrays = (self.core, self.memory, self._agreed, self._states)
        self.watch = _Watch(*(array.ctypes.data for array in arrays), length, True)
        _library().npu_watch_begin(ctypes.byref(self.watch))

    def put(self, offset: int, values: NDArray[np.uint8]) -> None:
        """The core writes values, through its cache."""
        self.core[offset : offset + values.size] = values
        self.mark(offset, values.size, WRITTEN)

    def mark(self, offset: int, length: int, bits: int) -> None:
        """Set bits of the states of bytes."""
        _library().npu_mark(ctypes.byref(self.watch), offset, length, bits, True)

    def clean(self, offset: int, length: int) -> str | None:
        """Write changed lines back."""
        return self._called("npu_clean", offset, length)

    def invalidate(self, offset: int, length: int) -> str | None:
        """Take lines over from memory."""
        return self._called("npu_invalidate", offset, length)

    def seen(self, offset: int, length: int) -> str | None:
        """Check that the core sees what the NPU wrote."""
        return self._called("npu_check_seen", offset, length)

    def _called(self, name: str, offset: int, length: int) -> str | None:
        fault = model._Fault()
        status = getattr(_library(), name)(ctypes.byref(self.watch), offset, length, ctypes.byref(fault))
        return f"{model.FAULTS[status]}: byte {fault.address}" if status else None


def run(
    words: NDArray[np.uint32], constants: NDArray[np.uint8], areas: Mapping[int, tuple[Watched, int, int]]
) -> str | None:
    """Run a stream; `areas`: region -> its memory, base there and length. The fault in words, or None."""
    library = _library()
    regions = (model._Region * 8)()
    watches = (ctypes.POINTER(_Watch) * 8)()
    regions[0] = model._Region(constants.ctypes.data, constants.size, False)
    for region, (area, base, length) in areas.items():
        starts = (getattr(area.watch, name) + base for name in _ARRAYS)
        watches[region] = ctypes.pointer(_Watch(*starts, area.core.size - base, True))
        regions[region] = model._Region(area.memory.ctypes.data + base, length, True)
    weights = np.zeros(_WEIGHTS, np.int16)
    work = model._Work(weights.ctypes.data, weights.size, 1 << 24)
    fault = model._Fault()
    device = library.npu_device_named(b"ethos-u55-128")
    stream = np.ascontiguousarray(words)
    status = library.npu_run_watched(
        device, stream.ctypes.data, stream.size, regions, watches, work, ctypes.byref(fault)
    )
    return f"{model.FAULTS[status]}: region {fault.region}, byte {fault.address}" if status else None


def _library() -> ctypes.CDLL:
    library = model._library()
    sized = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
    library.npu_watch_begin.argtypes = sized[:1]
    library.npu_mark.argtypes = (*sized, ctypes.c_uint8, ctypes.c_bool)
    for name in ("npu_clean", "npu_invalidate", "npu_check_seen"):
        getattr(library, name).argtypes = (*sized, ctypes.c_void_p)
    pointers = (ctypes.c_void_p, ctypes.c_void_p)
    library.npu_run_watched.argtypes = (
        *(*pointers, ctypes.c_size_t, *pointers),
        *(model._Work, ctypes.c_void_p),
    )
    return library
