"""Faults of a program around the NPU, injected one at a time: the model of caches and memory names each.

The program copies an input of 64 bytes to the scratch, cleans it, lets the NPU compute, takes the result over
from memory, and reads it. The scratch is 512 bytes of a larger area.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.ethos_u import streams
from tests.tools.npu.watched import KEPT, LINE, Watched, run

INPUT, RESULT, SIZE, SCRATCH, AREA = 0, 128, 64, 512, 1024
_MAXIMUM = 0x005
_VALUES = np.arange(SIZE, dtype=np.uint8)


def _copies(source: int, target: int) -> NDArray[np.uint32]:
    """64 bytes from one place of the scratch to another, as a maximum of windows of one element."""
    shape = (8, 8, 1)
    return streams.stream(
        streams.image(shape, 0, source), streams.result(shape, 0, target), streams.kernel(1, 1), [_MAXIMUM]
    )


def _convolves(packed_bytes: int) -> NDArray[np.uint32]:
    """A convolution 1x1 from 8 to 8 channels, of weights at 80 in the constants."""
    return streams.stream(
        streams.image((2, 4, 8), 0, INPUT),
        streams.result((2, 4, 8), 0, RESULT),
        streams.kernel(1, 1),
        streams.weights_at(80, packed_bytes, 0, 80),
        [0x002],
    )


_SCALES = b"".join(streams.channel(0, *streams.UNIT) for _ in range(8))
_PACKED = streams.plain_weights(streams.depth_first(np.eye(8, dtype=np.int64).reshape(8, 1, 1, 8)))
_CONSTANTS = np.frombuffer(_SCALES + _PACKED, np.uint8).copy()


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One inference as a program does it; a fault replaces a part of it."""

    words: NDArray[np.uint32]
    constants: NDArray[np.uint8]
    put_at: int = INPUT
    clean: tuple[tuple[int, int], ...] = ((INPUT, SIZE),)
    base: int = 0
    length: int = SCRATCH
    before: Callable[[Watched], str | None] = lambda _: None
    after: Callable[[Watched], str | None] = lambda _: None
    invalidate: tuple[tuple[int, int], ...] = ((RESULT, SIZE),)


def _told(program: Program) -> str | None:
    """The first fault that is told, or a difference of the result."""
    area = Watched(AREA)
    area.put(program.put_at, _VALUES)
    faults = [area.clean(*place) for place in program.clean]
    faults.append(program.before(area))
    faults.append(run(program.words, program.constants, {1: (area, program.base, program.length)}))
    faults.append(program.after(area))
    faults += [area.invalidate(*place) for place in program.invalidate]
    faults.append(area.seen(RESULT, SIZE))
    told = [fault for fault in faults if fault is not None]
    if not told:
        np.testing.assert_array_equal(area.core[RESULT : RESULT + SIZE], _VALUES)
    return told[0] if told else None


_COPY = Program(words=_copies(INPUT, RESULT), constants=_CONSTANTS)
_CONVOLUTION = Program(words=_convolves(len(_PACKED)), constants=_CONSTANTS)


@pytest.mark.parametrize("program", [_COPY, _CONVOLUTION])
def test_a_program_without_fault_is_not_blamed(program: Program) -> None:
    assert _told(program) is None


def _written(offset: int, count: int = 1) -> Callable[[Watched], None]:
    return lambda area: area.put(offset, np.full(count, 0x55, np.uint8))


def _kept(offset: int) -> Callable[[Watched], None]:
    return lambda area: area.mark(offset, 16, KEPT)


def _input_taken_over(area: Watched) -> str | None:
    return area.invalidate(INPUT, SIZE)


def _cleaned_late(area: Watched) -> str | None:
    area.put(RESULT + 8, np.full(1, 0x55, np.uint8))
    return area.clean(RESULT, SIZE)


_OTHER_WEIGHTS = np.concatenate([_CONSTANTS[:80], np.full(_CONSTANTS.size - 80, 0x6D, np.uint8)])
NOT_CLEANED = "a read of what the core changed and did not clean from its cache"
OLDER = "the core would read an older copy of the NPU's result"
LOST = "an invalidation drops what the core wrote"
UNDONE = "the core's cache writes an older copy over the NPU's result"
DIRTY = "a write into a line that the core's cache holds changed, and will write over it"
UNWRITTEN = "a read of bytes that nobody has written"
OUTSIDE = "an access outside its memory region"
VALUE = "an access to a value of another step"

FAULTS = {
    "no clean": (replace(_COPY, clean=()), NOT_CLEANED),
    "clean of one line less": (replace(_COPY, clean=((INPUT, SIZE - LINE),)), NOT_CLEANED),
    "clean of another buffer": (replace(_COPY, clean=((RESULT, SIZE),)), NOT_CLEANED),
    "input written after the clean": (replace(_COPY, before=_written(INPUT + 5)), NOT_CLEANED),
    "invalidate for clean": (
        replace(_COPY, clean=(), before=_input_taken_over),
        LOST,
    ),
    "no invalidate": (replace(_COPY, invalidate=()), OLDER),
    "invalidate of one line less": (replace(_COPY, invalidate=((RESULT, SIZE - LINE),)), OLDER),
    "invalidate of the input": (replace(_COPY, invalidate=((INPUT, SIZE),)), OLDER),
    "variable in a line of the result": (
        replace(_COPY, words=_copies(INPUT, RESULT + 16), before=_written(RESULT + 8)),
        DIRTY,
    ),
    "result written before it is invalidated": (replace(_COPY, after=_written(RESULT + 70 - LINE)), LOST),
    "result cleaned for invalidated": (replace(_COPY, after=_cleaned_late), UNDONE),
    "base one line late": (replace(_COPY, base=LINE), UNWRITTEN),
    "base in another buffer": (replace(_COPY, base=SCRATCH), UNWRITTEN),
    "region one line short": (replace(_COPY, length=RESULT + SIZE - LINE), OUTSIDE),
    "region absent": (replace(_COPY, words=_copies(INPUT, RESULT), length=0), OUTSIDE),
    "scratch over a live value": (replace(_COPY, before=_kept(RESULT + 40)), VALUE),
    "input over a live value": (replace(_COPY, before=_kept(INPUT + 40)), VALUE),
    "input at another place": (replace(_COPY, put_at=INPUT + 64, clean=((INPUT, 128),)), UNWRITTEN),
    "stream of another build": (replace(_COPY, words=_copies(RESULT + 64, RESULT)), UNWRITTEN),
    "stream of a larger build": (replace(_COPY, words=_copies(INPUT, SCRATCH - 32)), OUTSIDE),
    "stream that is cut": (replace(_COPY, words=_COPY.words[:-1]), "the stream ends without a stop command"),
    "constants of another build": (
        replace(_CONVOLUTION, constants=_OTHER_WEIGHTS),
        "a weight stream that breaks its format",
    ),
    "constants that are cut": (replace(_CONVOLUTION, constants=_CONSTANTS[:-16].copy()), OUTSIDE),
}


@pytest.mark.parametrize(("program", "name"), FAULTS.values(), ids=list(FAULTS))
def test_an_injected_fault_is_told_by_name(program: Program, name: str) -> None:
    told = _told(program)
    assert told is not None
    assert told.startswith(name)
