"""The functional model on streams written by hand, against arithmetic on whole numbers."""

from collections.abc import Callable

import numpy as np
import pytest

from codegen.ethos_u.functional_model import run_stream
from codegen.ir.ops.base import curves
from tests.ethos_u import streams
from tests.ethos_u.streams import UNIT

DEVICE = "ethos-u55-128"
SCRATCH = 4096
CONV, DEPTHWISE, POOL, ELEMENTWISE, DMA = 0x002, 0x003, 0x005, 0x006, 0x010
MAXIMUM, AVERAGE, ADD = 0, 1, 1


def _run(words: np.ndarray, scratch: np.ndarray, constants: bytes = b"", **options: int) -> str | None:
    memory = np.frombuffer(constants, np.uint8).copy()
    regions = [memory, scratch, *[None] * 6]
    return run_stream(DEVICE, words, regions, [False, True, *[False] * 6], **options)


def _with(values: np.ndarray) -> np.ndarray:
    scratch = np.zeros(SCRATCH, np.uint8)
    scratch[: values.size] = values.astype(np.int8).view(np.uint8).reshape(-1)
    return scratch


def _stored(scratch: np.ndarray, shape: tuple[int, ...], address: int) -> np.ndarray:
    size = int(np.prod(shape))
    return scratch[address : address + size].view(np.int8).reshape(shape).astype(np.int64)


def _convolution(image: np.ndarray, weights: np.ndarray, zero_point: int) -> tuple[np.ndarray, str | None]:
    """A convolution at a scale of 1, and what the model says of it."""
    results, rows, columns, inputs = weights.shape
    packed = streams.plain_weights(streams.depth_first(weights))
    channels = b"".join(streams.channel(index, *UNIT) for index in range(results))
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    shape = (height, width, results)
    scratch = _with(image)
    words = streams.stream(
        streams.image((image.shape[0], image.shape[1], inputs), zero_point, 0),
        streams.result(shape, -3, 2048),
        streams.kernel(rows, columns),
        streams.weights_at(0, len(packed), len(packed), len(channels)),
        [CONV],
    )
    fault = _run(words, scratch, packed + channels)
    return _stored(scratch, shape, 2048), fault


@pytest.mark.parametrize(
    ("rows", "columns", "inputs", "results"), [(1, 1, 8, 8), (3, 3, 5, 9), (2, 1, 33, 3), (1, 4, 16, 16)]
)
def test_a_convolution_sums_products_of_whole_numbers(
    rows: int, columns: int, inputs: int, results: int
) -> None:
    rng = np.random.default_rng(rows * 100 + inputs)
    image = rng.integers(-4, 5, (5, 6, inputs))
    weights = rng.integers(-2, 3, (results, rows, columns, inputs))
    stored, fault = _convolution(image, weights, zero_point=1)
    assert fault is None
    windows = np.lib.stride_tricks.sliding_window_view(image - 1, (rows, columns), (0, 1))
    sums = np.einsum("yxcij,oijc->yxo", windows, weights) + np.arange(results)
    np.testing.assert_array_equal(stored, np.clip(sums - 3, -128, 127))


@pytest.mark.parametrize(
    ("rounding", "values"),
    [(0, (2, 1, 0, -1, -1, -2)), (1, (1, 0, 0, 0, -1, -1)), (2, (2, 1, 0, 0, -1, -1))],
)
def test_halves_round_as_the_mode_says(rounding: int, values: tuple[int, ...]) -> None:
    """3, 1, 0, -1, -2, -3 by one half: away from zero in two steps, towards zero, or up."""
    scratch = _with(np.array([3, 1, 0, -1, -2, -3]))
    shape = (1, 6, 1)
    words = streams.stream(
        streams.image(shape, 0, 0),
        streams.result(shape, 0, 64, is_global=True),
        streams.short(0x114, 0x101 | rounding << 14),
        streams.kernel(1, 1),
        streams.long(0x024, 1 << 30, 32),  # 2^30 / 2^32 of the sum, which is doubled below
        streams.short(0x180, 0),
        streams.second_image(shape, 0, 0),
        streams.long(0x025, 1),
        streams.long(0x026, 1),
        [ELEMENTWISE | ADD << 16],
    )
    assert _run(words, scratch) is None
    assert tuple(_stored(scratch, (6,), 64)) == values


def test_a_maximum_ignores_what_is_padded() -> None:
    image = np.array([[-5, -7], [-9, -6]])
    scratch = _with(image)
    words = streams.stream(
        streams.image((2, 2, 1), 0, 0),
        streams.result((2, 2, 1), 0, 64),
        streams.kernel(2, 2),
        streams.short(0x102, 1),  # on the right
        streams.short(0x103, 1),  # below
        [POOL | MAXIMUM << 16],
    )
    assert _run(words, scratch) is None
    np.testing.assert_array_equal(_stored(scratch, (2, 2), 64), [[-5, -6], [-6, -6]])


def test_a_padded_mean_divides_by_what_each_window_has() -> None:
    """Vela sets one scale of 1 there, which would give sums."""
    scratch = _with(np.array([[8, 4], [2, 6]]))
    words = streams.stream(
        streams.image((2, 2, 1), 0, 0),
        streams.result((2, 2, 1), 0, 64, is_global=True),
        streams.kernel(2, 2),
        streams.short(0x102, 1),
        streams.short(0x103, 1),
        streams.long(0x024, 1),
        [POOL | AVERAGE << 16],
    )
    assert _run(words, scratch) is None
    np.testing.assert_array_equal(_stored(scratch, (2, 2), 64), [[5, 5], [4, 6]])


def test_a_result_with_a_negative_stride_is_written_backwards() -> None:
    """Its base is the pixel that is written before all others, as MIRROR_PAD's border is."""
    scratch = _with(np.array([[1, 2], [3, 4], [5, 6]]))
    words = streams.stream(
        streams.image((3, 2, 1), 0, 0),
        streams.result((3, 2, 1), 0, 64 + 4),
        streams.long(0x015, -2, 0xFF),
        streams.kernel(1, 1),
        [POOL | MAXIMUM << 16],
    )
    assert _run(words, scratch) is None
    np.testing.assert_array_equal(_stored(scratch, (3, 2), 64), [[5, 6], [3, 4], [1, 2]])


@pytest.mark.parametrize(("function", "curve"), [(3, curves.tanh), (4, curves.sigmoid)])
def test_curves_of_int16_are_those_of_tflite(
    function: int, curve: Callable[[np.ndarray], np.ndarray]
) -> None:
    """All of the 16 bits at once, scaled by 6 / 2 to units of 1 / (3 x 4096), which takes 18 bits."""
    values = np.arange(-32768, 32768, dtype="<i2")
    memory = np.concatenate([values, np.zeros_like(values)]).view(np.uint8)
    shape = (256, 256, 1)
    words = streams.stream(
        streams.image(shape, 0, 0),
        streams.short(0x105, 0x5),
        [word for code in (0x004, 0x014) for word in streams.long(code, 2)],
        [word for code in (0x005, 0x015) for word in streams.long(code, 512)],
        streams.result(shape, 0, 2 * values.size, is_global=True),
        streams.short(0x114, 0x103),
        streams.long(0x014, 2),
        streams.long(0x015, 512),
        streams.long(0x024, 6, 1),
        streams.short(0x125, function),
        streams.short(0x126, -32768),
        streams.short(0x127, 32767),
        streams.kernel(1, 1),
        [POOL | AVERAGE << 16],
    )
    assert _run(words, memory) is None
    right = curve(values.astype(np.int64) * 3)
    np.testing.assert_array_equal(memory.view("<i2")[values.size :], right)


def test_a_copy_moves_constants_to_the_scratch() -> None:
    scratch = np.zeros(SCRATCH, np.uint8)
    words = streams.stream(
        streams.short(0x130, 0),
        streams.short(0x131, 1),
        streams.long(0x030, 16),
        streams.long(0x031, 100),
        streams.long(0x032, 4),
        [DMA],
    )
    assert _run(words, scratch, bytes(range(32))) is None
    assert bytes(scratch[99:105]) == bytes([0, 16, 17, 18, 19, 0])


def _copy(region: int, source: int, length: int) -> np.ndarray:
    return streams.stream(
        streams.short(0x130, 0),
        streams.short(0x131, region),
        streams.long(0x030, source),
        streams.long(0x031, 0),
        streams.long(0x032, length),
        [DMA],
    )


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (_copy(1, 30, 4), "an access outside its memory region: word 8 of 10 (region 0, address 0x1e)"),
        (_copy(5, 0, 4), "an access outside its memory region: word 8 of 10 (region 5, address 0x0)"),
        (_copy(0, 0, 4), "a write to constants: word 8 of 10"),
        (_copy(1, 0, 4)[:-1], "the stream ends without a stop command: word 8 of 9"),
        (_copy(1, 0, 4)[:3], "the last command lacks its payload: word 2 of 3"),
        (
            np.array([0x0000_0004], np.uint32),
            "a command that the device does not have: word 0 of 1 (region 0, address 0x4)",
        ),
    ],
)
def test_faults_name_the_command(words: np.ndarray, fault: str) -> None:
    assert _run(words, np.zeros(64, np.uint8), bytes(32)) == fault


def test_weights_that_end_early_are_a_fault() -> None:
    packed = streams.plain_weights([1] * 16)
    shape = (1, 1, 32)
    words = streams.stream(
        streams.image(shape, 0, 0),
        streams.result((1, 1, 8), 0, 64),
        streams.kernel(1, 1),
        streams.weights_at(0, len(packed), len(packed), 80),
        [CONV],
    )
    fault = _run(words, np.zeros(SCRATCH, np.uint8), packed + bytes(80))
    assert fault is not None
    assert fault.startswith("a weight stream that breaks its format")


def test_work_has_a_bound() -> None:
    """A stride of zero reads one pixel again and again: the largest extents would take weeks."""
    words = streams.stream(
        streams.image((65536, 65536, 1), 0, 0),
        streams.long(0x004, 0),
        streams.long(0x005, 0),
        streams.result((65536, 65536, 1), 0, 0),
        streams.long(0x014, 0),
        streams.long(0x015, 0),
        streams.kernel(1, 1),
        [POOL | MAXIMUM << 16],
    )
    fault = _run(words, np.zeros(64, np.uint8), most_steps=10_000)
    assert fault is not None
    assert fault.startswith("more work than a run may take")
