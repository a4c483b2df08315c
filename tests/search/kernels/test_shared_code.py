"""Kernels that steps share."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from codegen.kernels.contract import Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels import shared_code
from codegen.search.kernels.costs import cost
from codegen.search.kernels.shared_code import SLOWER_PERCENT, used_code_bytes, with_shared_code
from tests.search.kernels.test_selection import bound

KERNELS = {"ring": "pad", "taps": "gather", "narrow": "concat"}


def _candidate(kernel: str, instructions: int | None) -> PrimFunc:
    stem = KERNELS[kernel]
    source, symbol = f"kernels/portable/{stem}.c", f"cg_{stem}"
    return replace(bound(instructions, kernel), sources=(source,), symbol=symbol, constants=())


def _total(chosen: tuple[PrimFunc, ...], worth: int) -> float:
    return sum(cost(prim, worth) for prim in chosen) + worth * used_code_bytes(chosen)


def test_a_kernel_that_few_steps_want_is_not_worth_its_code() -> None:
    steps = [[_candidate("ring", 1_000), _candidate("taps", 1_500)]] * 3
    steps.append([_candidate("taps", 700), _candidate("narrow", 690)])
    assert [prim.kernel for prim in with_shared_code(steps, 0)] == ["ring", "ring", "ring", "narrow"]
    assert [prim.kernel for prim in with_shared_code(steps, 20)] == ["taps"] * 4


def test_a_step_keeps_its_only_kernel() -> None:
    steps = [[_candidate("ring", 10**6)], [_candidate("ring", 10), _candidate("taps", 5)]]
    assert [prim.kernel for prim in with_shared_code(steps, 1_000)] == ["ring", "ring"]


def test_a_prediction_is_never_given_up() -> None:
    steps = [[_candidate("ring", None), _candidate("taps", 10**9)], [_candidate("ring", None)]]
    assert [prim.kernel for prim in with_shared_code(steps, 1_000)] == ["taps", "ring"]


@pytest.mark.parametrize("seed", range(30))
def test_never_above_the_cheapest_of_each_and_close_to_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    worth = int(rng.integers(1, 30))
    steps = [
        [_candidate(name, int(rng.integers(100, 20_000))) for name in KERNELS]
        for _ in range(int(rng.integers(1, 5)))
    ]
    found = _total(with_shared_code(steps, worth), worth)
    best = min(_total(choice, worth) for choice in product(*steps))
    alone = tuple(min(each, key=lambda prim: cost(prim, worth)) for each in steps)
    assert best <= found <= _total(alone, worth)
    assert found <= 1.25 * best


def test_the_table_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_code, "code_bytes", lambda _symbols, _sources: 0)  # pyright: ignore
    steps = [[_candidate("ring", 1_000), _candidate("taps", 1_001)], [_candidate("taps", 1)]]
    assert [prim.kernel for prim in with_shared_code(steps, 10**6)] == ["ring", "taps"]


def test_code_counts_more_until_it_fits_but_steps_run_little_longer() -> None:
    """`taps` alone saves the code of `ring`; that is taken to fit a limit, unless it costs too much."""
    fast, small = _candidate("ring", 10_000), _candidate("taps", 11_000)
    steps = [[_candidate("taps", 10_000)], [fast, small]]
    both, one = used_code_bytes([fast, small]), used_code_bytes([small])
    assert both > one
    assert [prim.kernel for prim in with_shared_code(steps, 1, both)] == ["taps", "ring"]
    assert [prim.kernel for prim in with_shared_code(steps, 1, one)] == ["taps", "taps"]
    slow = _candidate("taps", 10_000 + 2 * 10_000 * SLOWER_PERCENT // 100 + 1)
    assert [prim.kernel for prim in with_shared_code([steps[0], [fast, slow]], 1, one)] == ["taps", "ring"]
    assert [prim.kernel for prim in with_shared_code(steps, 0, one)] == ["taps", "ring"]


def test_code_is_not_saved_for_more_workspace_than_it_is_worth() -> None:
    """micro_speech: the fully connected layer took 8,000 bytes of workspace to save 1,000 of code."""
    apart, shared = _candidate("narrow", 1_000), _candidate("taps", 1_000)
    steps = [[_candidate("taps", 10_000)], [apart, shared]]
    assert [prim.kernel for prim in with_shared_code(steps, 20)] == ["taps", "taps"]
    roomy = replace(shared, workspaces=(Workspace(name="inputs", size_bytes=8_000),))
    assert [prim.kernel for prim in with_shared_code([steps[0], [apart, roomy]], 20)] == ["taps", "narrow"]
