"""Constant pools of a board: which there are, how large, in which order; rules of the user's."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from codegen import importers
from codegen.board import load_board
from codegen.errors import CodegenError
from codegen.ir import ConstRef
from codegen.kernels.base.costs import constant_reads, recorded
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.constants.constant_rules import ConstantRule
from codegen.search.flash.constant_pools import FIRMWARE_BYTES, constant_pools, placed
from codegen.search.kernels.binding import Binder
from codegen.search.memory.board_pools import board_pools
from tests.plan.build import prim, var
from tests.testdata import model_path

AN547 = load_board("mps3-an547")


def step(name: str, *constants: LinkedConstant) -> PrimFunc:
    return replace(prim(var(name, 4), var("x", 4)), constants=constants)


def constant(role: str, size: int) -> LinkedConstant:
    return LinkedConstant(role=role, data=np.arange(size, dtype=np.uint8), alignment=1)


def test_every_read_only_region_is_a_pool_the_cheapest_first() -> None:
    found = constant_pools(AN547, {}, [], emulated=True)
    assert [(pool.name, pool.read_cost, pool.section) for pool in found] == [
        ("itcm", 1.0, ".rodata.cg.itcm"),
        ("qspi", 8.0, ".rodata.cg.qspi"),
    ]


def test_the_code_region_keeps_room_for_the_code() -> None:
    source = "kernels/mve/conv2d_s8_mve.c"
    itcm, qspi = constant_pools(AN547, {}, [replace(step("a"), sources=(source,))], emulated=True)
    code = sum(each.size_bytes for each in recorded() if each.source == source)
    assert code > 500
    assert itcm.limit_bytes == 524_288 - FIRMWARE_BYTES - 2 * code
    assert qspi.limit_bytes == 8_388_608
    # What the user says counts as it is; one pool has nowhere else to go and is left to the linker.
    itcm, qspi = constant_pools(AN547, {"itcm": 500_000, "qspi": 7}, [], emulated=True)
    assert (itcm.limit_bytes, qspi.limit_bytes) == (500_000, 7)
    (flash,) = constant_pools(load_board("microbit"), {}, [], emulated=True)
    assert flash.limit_bytes == load_board("microbit").region("FLASH").size_bytes


def test_regions_that_the_emulator_lacks_are_left_out_of_its_plans() -> None:
    regions = tuple(replace(each, emulated=each.name != "QSPI") for each in AN547.regions)
    board = replace(AN547, regions=regions)
    assert [pool.name for pool in constant_pools(board, {}, [], emulated=True)] == ["itcm"]
    assert [pool.name for pool in constant_pools(board, {}, [], emulated=False)] == ["itcm", "qspi"]


def test_limits_of_constant_pools_are_known_names() -> None:
    assert [pool.name for pool in board_pools(AN547, {"qspi": 5}, emulated=True)] == [
        "dtcm",
        "sram",
        "bram",
        "ddr",
    ]
    with pytest.raises(CodegenError, match=r"E215.*has no pool flash\n.*dtcm, sram, bram, ddr, itcm, qspi"):
        board_pools(AN547, {"flash": 5}, emulated=True)


def scopes(prims: Sequence[PrimFunc]) -> list[str | None]:
    return [each.memory_scope for found in prims for each in found.constants]


def test_the_first_rule_that_applies_counts() -> None:
    steps = [step("a", constant("w", 100), constant("b", 10)), step("b", constant("w", 100))]
    pools = constant_pools(AN547, {}, steps, emulated=True)
    rules = [
        ConstantRule(memory="itcm", name="b"),
        ConstantRule(memory="qspi", op="PROBE", larger_than=10),
    ]
    assert scopes(placed(steps, rules, pools)) == ["qspi", None, "itcm"]
    inner = replace(constant("w", 100), op="CONV_2D", steps=("conv0", "net/conv"))
    (found,) = placed([step("a", inner)], [ConstantRule(memory="qspi", name="net/conv")], pools)
    assert scopes([found]) == ["qspi"], "a step of a block is called by its own name"


def test_rules_that_cannot_be_are_named_all_at_once() -> None:
    steps = [step("a", constant("w", 100)), step("quiet")]
    pools = constant_pools(AN547, {}, steps, emulated=True)
    rules = [
        ConstantRule(memory="flash", where="codegen.toml, constants 1"),
        ConstantRule(memory="qspi", name="c", larger_than=5, where="codegen.toml, constants 2"),
        ConstantRule(memory="qspi", op="CONV_2D", where="codegen.toml, constants 3"),
    ]
    with pytest.raises(CodegenError) as caught:
        placed(steps, rules, pools)
    assert [str(message) for message in caught.value.messages] == [
        "error[E246] codegen.toml, constants 1: flash is no constant pool of this board\n"
        "help: constant pools are itcm, qspi",
        "error[E245] codegen.toml, constants 2: applies to no constant: name = 'c', larger_than = 5\n"
        "help: steps with constants are a",
        "error[E245] codegen.toml, constants 3: applies to no constant: op = 'CONV_2D'\n"
        "help: steps with constants are a",
    ]


def test_reads_are_those_of_the_weights_over_the_pixels_of_a_tile() -> None:
    weights = constant("w", 12)
    assert constant_reads(step("a", weights), weights) == 1.0
    assert constant_reads(step("a", weights), replace(weights, reads=3.0)) == 3.0


@pytest.mark.parametrize(
    ("op", "kernel", "pixels"),
    [
        ("CONV_2D", "conv_2d_s8_mve_pointwise", 3),
        ("DEPTHWISE_CONV_2D", "depthwise_conv_2d_s8_mve_small", 5),
        ("DEPTHWISE_CONV_2D", "depthwise_conv_2d_s8_mve_in_place", 5),
        ("DEPTHWISE_CONV_2D", "depthwise_conv_2d_s8_mve", 1),
    ],
)
def test_kernels_on_helium_read_a_weight_for_several_pixels(op: str, kernel: str, pixels: int) -> None:
    """They were taken to read every weight for every pixel, so staging seemed to pay where it did not: three
    pixels of a product, or a stripe of one row (5 columns here) of a depthwise layer, share a reading."""
    module = importers.load(model_path("mlperf_tiny/kws_ref_model"))
    let = [let for let in module.main.body if let.call.op.name == op][-1]
    assert let.var.type.shape[2] == 5
    binder = Binder({id_: each.data for id_, each in module.constants.items()}, AN547.target)
    able = [*binder.able(let), *binder.able(let, in_place=True)]
    [bound] = [binder.bind(each, let, "step") for each in able if each.name == kernel]
    weights = let.call.args[1]
    assert isinstance(weights, ConstRef)
    assert constant_reads(bound, bound.constants[0]) == bound.macs / weights.type.elements / pixels
