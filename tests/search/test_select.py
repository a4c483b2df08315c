"""Which of several kernels a step gets."""

from dataclasses import replace

import numpy as np

from codegen.ir import Target
from codegen.kernels.primfunc import PrimFunc
from codegen.search.select import fastest, select
from tests.search.chains import Chain


def _bound(instructions: int | None, kernel: str) -> PrimFunc:
    module = Chain(np.random.default_rng(1)).module(1)
    data = {id_: constant.data for id_, constant in module.constants.items()}
    (prim,) = select(module.main, data, Target(cpu="cortex-m3"))
    return replace(prim, instructions=instructions, kernel=kernel)


def test_fewest_predicted_instructions_win():
    choices = [_bound(300, "slow"), _bound(100, "fast"), _bound(200, "middle")]
    assert fastest(choices).kernel == "fast"


def test_a_prediction_beats_none():
    assert fastest([_bound(None, "portable"), _bound(10**9, "known")]).kernel == "known"


def test_the_first_registered_wins_a_tie():
    assert fastest([_bound(7, "first"), _bound(7, "second")]).kernel == "first"
    assert fastest([_bound(None, "first"), _bound(None, "second")]).kernel == "first"
