"""Streams whose halves of words are 256 b + a: what they hold, without a target."""

import numpy as np
import pytest

from codegen.kernels.dsp.packing import Channels, channels_of, groups, holds_joined, joined_stream, stream
from tests.kernels.dsp.test_convolution import able, conv_layer, conv_of


@pytest.mark.parametrize("seed", range(40))
def test_a_joined_stream_holds_the_weights_of_the_plain_one(seed: int) -> None:
    """Read as cg_conv_dsp.h states it: halves of a word are 256 b + a, the sum of b is what is left of
    theirs less that of a. All else is as in the plain stream."""
    drawn = conv_layer(seed)
    kernel = able(drawn)
    if kernel is None:
        return
    channels = channels_of(conv_of(drawn, kernel), drawn.let.var.type)
    if not holds_joined(channels):
        return
    count, values = channels.weights.shape
    words = 2 * groups(values)
    plain, joined = stream(channels), joined_stream(channels)
    length = (words + 5) * (count // 2)
    np.testing.assert_array_equal(plain[length:], joined[length:])
    pixel = np.random.default_rng(seed).integers(-128, 128, 2 * words)
    for one, other in zip(
        plain[:length].reshape(-1, words + 5), joined[:length].reshape(-1, words + 5), strict=True
    ):
        np.testing.assert_array_equal(one[2 + words :], other[2 + words :])
        by_bytes = np.ascontiguousarray(one[2:-3]).view(np.int8).astype(np.int64).reshape(words, 2, 2)
        halves = np.ascontiguousarray(other[2:-3]).view(np.int16).astype(np.int64)
        first = int(pixel @ by_bytes[:, :, 0].reshape(-1)) + int(one[0])
        second = int(pixel @ by_bytes[:, :, 1].reshape(-1)) + int(one[1])
        assert other[0] == one[0]
        both = int(pixel @ halves) + int(other[1]) - first
        assert ((both + 2**31) % 2**32 - 2**31) >> 8 == second


def test_what_a_joined_stream_cannot_hold() -> None:
    """256 * -128 - 1 has 17 bits; 256 times a sum of 2^23 has 33; a channel alone has no pair."""

    def held(first: int, second: int, bias: int = 0, count: int = 2) -> bool:
        return holds_joined(
            Channels(
                weights=np.array([[first] * 4, [second] * 4], np.int8)[:count],
                bias=np.array([0, bias], np.int32)[:count],
                multipliers=np.full(count, 1 << 30, np.int32),
                shifts=np.full(count, -5, np.int32),
                is_clamped=False,
            )
        )

    assert held(-1, -127) and held(0, -128)
    assert not held(-1, -128)
    assert held(0, 127, 2**23 - 4 * 127 * 128 - 1) and not held(0, 127, 2**23 - 4 * 127 * 128)
    assert held(0, 127, -(2**23) + 4 * 127 * 128 + 1) and not held(0, 127, -(2**23) + 4 * 127 * 128)
    assert not held(0, 0, count=1)
