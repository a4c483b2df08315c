"""The float kernels' functions against double precision, to the bounds they state."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.ir import DType
from codegen.ir.ops import Attrs, SoftmaxAttrs
from tests.kernels.calling import Library, bind
from tests.kernels.layers import Operand, layer
from tests.tensor_types import REAL, tensor_type


def _run(library: Library, op: str, attrs: Attrs, values: NDArray[np.float32]) -> NDArray[np.float32]:
    operand = Operand(type=tensor_type(values.shape, DType.FLOAT32), data=values)
    call = layer(op, attrs, (operand,), REAL)
    found = library.run(bind(call), call, paint=0xA5).result
    return np.frombuffer(found, np.float32).reshape(values.shape)


def _relative(found: NDArray[np.float32], expected: NDArray[np.float64]) -> float:
    return float(np.max(np.abs(found.astype(np.float64) - expected) / np.abs(expected)))


def _spread() -> NDArray[np.float32]:
    """Densely from -80 to 80, closely around 0, and tiny numbers of either sign."""
    tiny = np.concatenate([-np.logspace(-30, 0, 500), np.logspace(-30, 0, 500)])
    return np.concatenate([np.linspace(-80, 80, 200_001), np.linspace(-2, 2, 100_001), tiny]).astype(
        np.float32
    )


@pytest.mark.usefixtures("no_reports")
def test_exponential_of_softmax(library: Library) -> None:
    # A row (x, 0) with x <= 0 gives exp(x) / (1 + exp(x)) and 1 / (1 + exp(x)): their quotient is exp(x)
    # up to the rounding of two divisions, 1.2e-7.
    x = np.linspace(-86, 0, 100_001).astype(np.float32)
    rows = np.stack([x, np.zeros_like(x)], axis=1)
    found = _run(library, "SOFTMAX", SoftmaxAttrs(), rows).astype(np.float64)
    quotient = (found[:, 0] / found[:, 1]).astype(np.float64)
    assert np.max(np.abs(quotient / np.exp(x.astype(np.float64)) - 1.0)) < 2e-7 + 1.2e-7


@pytest.mark.usefixtures("no_reports")
def test_softmax(library: Library) -> None:
    rows = (np.random.default_rng(0).standard_normal((20, 1000)) * 10).astype(np.float32)
    found = _run(library, "SOFTMAX", SoftmaxAttrs(), rows)
    exact = np.exp(rows.astype(np.float64) - rows.max(axis=1, keepdims=True).astype(np.float64))
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.max(np.abs(found - exact) / exact.max(axis=1, keepdims=True)) < 2e-6


@pytest.mark.usefixtures("no_reports")
def test_logistic(library: Library) -> None:
    x = _spread()
    assert (
        _relative(_run(library, "LOGISTIC", Attrs(), x), 1.0 / (1.0 + np.exp(-x.astype(np.float64)))) < 4e-7
    )


@pytest.mark.usefixtures("no_reports")
def test_tanh(library: Library) -> None:
    x = _spread()
    x = x[x != 0]
    assert _relative(_run(library, "TANH", Attrs(), x), np.tanh(x.astype(np.float64))) < 4e-7


def _elu(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(x < 0, np.expm1(x), x)


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(
    ("op", "exact", "bound"),
    [("EXP", np.exp, 2e-7), ("ELU", _elu, 6e-7)],
)
def test_powers(library: Library, op: str, exact: Callable[[Any], Any], bound: float) -> None:
    x = _spread()
    x = x[x != 0]
    assert _relative(_run(library, op, Attrs(), x), exact(x.astype(np.float64))) < bound


@pytest.mark.usefixtures("no_reports")
def test_logarithm(library: Library) -> None:
    far = np.logspace(-44, 38, 100_001).astype(np.float32)
    near = np.linspace(0.5, 2.0, 100_001).astype(np.float32)
    far = far[np.abs(np.log(far)) > 0.7]
    assert _relative(_run(library, "LOG", Attrs(), far), np.log(far.astype(np.float64))) < 4e-7
    found = _run(library, "LOG", Attrs(), near).astype(np.float64)
    assert np.max(np.abs(found - np.log(near.astype(np.float64)))) < 1e-7
    ends = np.array([0.0, np.inf], np.float32)
    assert _run(library, "LOG", Attrs(), ends).tolist() == [-np.inf, np.inf]


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(("op", "exact"), [("SIN", np.sin), ("COS", np.cos)])
def test_angles(library: Library, op: str, exact: Callable[[Any], Any]) -> None:
    """Over every exponent: rotary embeddings of large positions were NaN beyond 2^30."""
    bits = np.random.default_rng(5).integers(0, 0x7F800000, 400_000, np.uint32)
    wide = np.concatenate([bits.view(np.float32), -bits.view(np.float32), [np.finfo(np.float32).max]])
    multiples = (np.arange(1, 100_001) * (np.pi / 2)).astype(np.float32)  # r is smallest there
    x = np.concatenate([_spread(), np.linspace(-1e6, 1e6, 200_001).astype(np.float32), wide, multiples])
    x = x.astype(np.float32)
    found = _run(library, op, Attrs(), x).astype(np.float64)
    assert np.max(np.abs(found - exact(x.astype(np.float64)))) < 2e-7
    ends = np.array([np.inf, -np.inf, np.nan], np.float32)
    assert np.isnan(_run(library, op, Attrs(), ends)).all()


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(("op", "exact"), [("SIN", np.sin), ("COS", np.cos)])
def test_angles_near_their_zeros_keep_their_digits(
    library: Library, op: str, exact: Callable[[Any], Any]
) -> None:
    """A network of such values alone is compared by its own largest one."""
    x = (np.arange(1, 2001) * (np.pi / 2)).astype(np.float32)
    right = exact(x.astype(np.float64))
    near = np.abs(right) < 1e-3
    assert near.sum() > 900
    assert _relative(_run(library, op, Attrs(), x)[near], right[near]) < 2e-7


@pytest.mark.usefixtures("no_reports")
def test_root_and_whole_numbers_are_exact(library: Library) -> None:
    """Over all exponents, below the normal numbers too; and at the ends of what is rounded."""
    bits = np.random.default_rng(3).integers(0, 0x7F800000, 200_000, np.uint32)
    x = np.concatenate([bits.view(np.float32), np.array([0.0, np.inf, 1.0, 4.0, 2.0], np.float32)])
    np.testing.assert_array_equal(_run(library, "SQRT", Attrs(), x), np.sqrt(x))
    halves = np.arange(-9, 9, 0.5)
    y = np.concatenate([halves, halves + 2**22, 2.0**23 + np.arange(4), -x[:1000]]).astype(np.float32)
    for op, exact in (("FLOOR", np.floor), ("CEIL", np.ceil), ("ROUND", np.rint)):
        np.testing.assert_array_equal(_run(library, op, Attrs(), y), exact(y))


@pytest.mark.usefixtures("no_reports")
def test_extremes(library: Library) -> None:
    x = np.array([-np.inf, -1e30, -200.0, 0.0, 200.0, 1e30, np.inf, np.nan], np.float32)
    assert _run(library, "LOGISTIC", Attrs(), x).tolist()[:7] == [0, 0, 0, 0.5, 1, 1, 1]
    assert _run(library, "TANH", Attrs(), x).tolist()[:7] == [-1, -1, -1, 0, 1, 1, 1]
    for op in ("LOGISTIC", "TANH", "RELU6"):
        assert np.isnan(_run(library, op, Attrs(), x)[7])
