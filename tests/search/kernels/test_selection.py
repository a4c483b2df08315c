"""Which of several kernels a step gets."""

from dataclasses import replace

import numpy as np

from codegen.ir import Target
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import cheapest
from codegen.search.kernels.selection import select
from tests.search.chains import Chain


def bound(instructions: int | None, kernel: str) -> PrimFunc:
    module = Chain(np.random.default_rng(1)).module(1)
    data = {id_: constant.data for id_, constant in module.constants.items()}
    (prim,) = select(module.main, Binder(data, Target(cpu="cortex-m3")))
    return replace(prim, instructions=instructions, kernel=kernel)


def test_fewest_predicted_instructions_win():
    choices = [bound(300, "slow"), bound(100, "fast"), bound(200, "middle")]
    assert cheapest(choices).kernel == "fast"


def test_a_prediction_beats_none():
    assert cheapest([bound(None, "portable"), bound(10**9, "known")]).kernel == "known"


def test_the_first_registered_wins_a_tie():
    assert cheapest([bound(7, "first"), bound(7, "second")]).kernel == "first"
    assert cheapest([bound(None, "first"), bound(None, "second")]).kernel == "first"


def test_a_byte_of_constants_is_worth_some_instructions():
    large, small = bound(100, "large"), bound(150, "small")
    table = LinkedConstant(role="table", data=np.zeros(10, np.int8), alignment=1)
    large = replace(large, constants=(*large.constants, table))
    assert cheapest([large, small]).kernel == "large"
    assert cheapest([large, small], flash_worth=4).kernel == "large"
    assert cheapest([large, small], flash_worth=6).kernel == "small"
