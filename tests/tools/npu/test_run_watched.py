"""`cg_npu_run` as generated code calls it, its hooks tied to a model of the cache: it forgets no line."""

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from tests.checkout import ROOT
from tests.ethos_u import streams
from tests.tools.npu.watched import WRITTEN, Watched, run

_GLUE = """
#include "cg_npu.h"
cg_status (*invoke)(const void *, size_t, void *const *, const size_t *);
void (*clean)(void *, size_t);
void (*invalidate)(void *, size_t);
cg_status cg_npu_invoke(const void *stream, size_t bytes, void *const bases[CG_NPU_BASES],
                        const size_t sizes[CG_NPU_BASES])
{
    return invoke(stream, bytes, bases, sizes);
}
void cg_npu_clean(void *address, size_t bytes) { clean(address, bytes); }
void cg_npu_invalidate(void *address, size_t bytes) { invalidate(address, bytes); }
"""
_POINTERS, _SIZES = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)
_INVOKE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, _POINTERS, _SIZES)
_LINES = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
_SIZE, _RESULT, _SCRATCH, _AREA = 64, 128, 208, 512
_VALUES = np.arange(_SIZE, dtype=np.uint8)


class _Place(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_int32), ("size_bytes", ctypes.c_int32))


class _Params(ctypes.Structure):
    _fields_ = (
        *(("stream", ctypes.c_void_p), ("stream_bytes", ctypes.c_int32), ("constants", ctypes.c_void_p)),
        *(
            (name, ctypes.c_int32)
            for name in ("constants_bytes", "scratch_bytes", "tail_bytes", "fast_bytes", "place_count")
        ),
        ("places", ctypes.POINTER(_Place)),
    )


@dataclass(kw_only=True, slots=True)
class _Hooks:
    """What stands for the cache and the NPU, with the faults that they tell."""

    area: Watched = field(default_factory=lambda: Watched(_AREA))
    forgotten: str = ""
    meanwhile: Callable[[Watched], None] = lambda _: None
    faults: list[str] = field(default_factory=list[str])

    def _note(self, fault: str | None) -> None:
        if fault is not None:
            self.faults.append(fault)

    def clean(self, address: int, count: int) -> None:
        offset = address - self.area.core.ctypes.data
        self.area.mark(offset, _SIZE, WRITTEN)
        if self.forgotten != "clean":
            self._note(self.area.clean(offset, count))
            self._note(self.area.invalidate(offset, count))

    def invalidate(self, address: int, count: int) -> None:
        if self.forgotten != "invalidate":
            self._note(self.area.invalidate(address - self.area.core.ctypes.data, count))

    def invoke(self, _stream: int, _bytes: int, bases: list[int], sizes: list[int]) -> int:
        image = (8, 8, 1)
        words = streams.stream(
            streams.image(image, 0, 0), streams.result(image, 0, _RESULT), streams.kernel(1, 1), [0x005]
        )
        base = bases[1] - self.area.core.ctypes.data
        self._note(run(words, np.zeros(16, np.uint8), {1: (self.area, base, sizes[1])}))
        self.meanwhile(self.area)
        return 0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ctypes.CDLL]:
    folder = tmp_path_factory.mktemp("npu_run")
    glue, built = folder / "glue.c", folder / "npu_run.so"
    glue.write_text(_GLUE)
    runtime: Path = ROOT / "runtime_c"
    sources = [runtime / "kernels" / "portable" / "npu_run.c", glue]
    words = ["gcc", "-std=c11", "-fPIC", "-shared", f"-I{runtime / 'include'}", "-o", built, *sources]
    subprocess.run(words, check=True)
    yield ctypes.CDLL(str(built))


def _faults(library: ctypes.CDLL, hooks: _Hooks, start: int = 0) -> list[str]:
    """Run one step whose scratch begins at `start`; what was told, and what the core sees of the result."""
    kept = (_INVOKE(hooks.invoke), _LINES(hooks.clean), _LINES(hooks.invalidate))
    for name, hook in zip(("invoke", "clean", "invalidate"), kept, strict=True):
        ctypes.c_void_p.in_dll(library, name).value = ctypes.cast(hook, ctypes.c_void_p).value
    place = _Place(0, _SIZE)
    params = _Params(None, 0, None, 0, _SCRATCH, 0, 0, 1, ctypes.pointer(place))
    arguments = (ctypes.c_void_p * 1)(_VALUES.ctypes.data)
    scratch = ctypes.c_void_p(hooks.area.core.ctypes.data + start)
    assert library.cg_npu_run(ctypes.byref(params), arguments, scratch, None) == 0
    unseen = hooks.area.seen(start + _RESULT, _SIZE)
    seen = hooks.area.core[start + _RESULT : start + _RESULT + _SIZE]
    if not hooks.faults and unseen is None:
        np.testing.assert_array_equal(seen, _VALUES)
    return [*hooks.faults, *([unseen] if unseen else [])]


@pytest.mark.parametrize("start", [0, 64])
def test_a_step_leaves_no_stale_line(library: ctypes.CDLL, start: int) -> None:
    assert _faults(library, _Hooks(), start) == []


@pytest.mark.parametrize(
    ("forgotten", "fault"),
    [
        ("clean", "a read of what the core changed and did not clean from its cache"),
        ("invalidate", "the core would read an older copy of the NPU's result"),
    ],
)
def test_a_hook_that_does_nothing_is_told(library: ctypes.CDLL, forgotten: str, fault: str) -> None:
    assert _faults(library, _Hooks(forgotten=forgotten))[0].startswith(fault)


def test_a_neighbour_written_while_the_npu_runs_is_told(library: ctypes.CDLL) -> None:
    """The scratch ends within a line: another task's variable lies in the rest of it."""

    def another_task(area: Watched) -> None:
        area.put(_SCRATCH + 4, np.full(1, 0x55, np.uint8))

    faults = _faults(library, _Hooks(meanwhile=another_task))
    assert faults[0].startswith("an invalidation drops what the core wrote")
