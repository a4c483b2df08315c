"""Which constants are stored compressed: only where they have to be, as cheaply as the plan permits.
Constant pools of a board: which there are, how large, in which order; rules of the user's.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codegen
from codegen import importers
from codegen.board import load_board
from codegen.constants import compressing
from codegen.constants.compressible import Option, units
from codegen.constants.compressing import linked
from codegen.constants.constant_pools import FIRMWARE_BYTES, constant_pools, placed
from codegen.constants.knapsack import Chosen, KnapsackItem, cheapest
from codegen.constants.merging import merge
from codegen.driver.build import Share, plan_model
from codegen.driver.checks.fit import telling
from codegen.driver.options import Options
from codegen.driver.preparing import prepared
from codegen.errors import CodegenError
from codegen.ir import ConstRef
from codegen.ir.rules import ConstantRule
from codegen.kernels.base.code_bytes import constant_reads, recorded
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.program.interface import ConstantsMode, Interface, PoolOwner
from codegen.program.program import Program
from codegen.program.search_options import SearchOptions
from codegen.search import board_pools
from codegen.search.kernels.binding import Binder
from tests.importers.onnx.models import model, node
from tests.networks import model_path
from tests.plan.build import prim, var

AD01 = "autoencoder"
RESNET = "resnet8"
PLAIN_BYTES = 280_912
PEAK_BYTES = 1_920


def planned(
    flash: int, *, sram: int | None = None, key: str = AD01, alone: bool = True, **options: Any
) -> Program:
    """A model on a Cortex-M4 with so many bytes for constants."""
    limits = {"flash": flash} | ({} if sram is None else {"sram": sram})
    chosen = replace(Options(board="mps2-an386", pool_limits=limits), **options)
    board = load_board("mps2-an386")
    path = model_path(key)
    ready = None if alone else prepared(path, chosen, ["sram"], among_others=True)
    with telling():
        return plan_model(path, board, chosen, share=Share(alone=alone, ready=ready)).program


def test_pieces_keep_the_peak_where_whole_layers_would_not() -> None:
    """The smallest layer that pays has 17,664 bytes, the plan's peak is 1,920."""
    program = planned(250_000)
    assert program.constants.size_bytes <= 250_000
    assert program.memory.peak_bytes("sram") == PEAK_BYTES
    assert program.constants.compression is not None and program.constants.compression.raised_bytes == 0
    for copy in program.constants.unpacked:
        assert copy.unpacking is not None
        assert copy.offset + copy.size_bytes <= PEAK_BYTES < copy.unpacking.original_bytes


def test_speed_takes_the_fewest_instructions_and_balanced_the_lowest_peak() -> None:
    fast, low = planned(250_000, optimize="speed"), planned(250_000)
    assert fast.constants.compression is not None and low.constants.compression is not None
    assert fast.constants.compression.instructions < low.constants.compression.instructions
    assert fast.memory.peak_bytes("sram") > low.memory.peak_bytes("sram")
    assert all(
        copy.unpacking and len(copy.unpacking.packing.piece_bytes) == 1 for copy in fast.constants.unpacked
    )


def test_a_limit_of_ram_holds_for_buffers_too() -> None:
    program = planned(250_000, sram=PEAK_BYTES, optimize="speed")
    assert program.memory.peak_bytes("sram") <= PEAK_BYTES
    assert program.constants.compression is not None


def unbeaten(options: Sequence[Option]) -> list[Option]:
    """Options of one constant that no other beats, one of equal ones."""
    found: list[Option] = []
    for one in sorted(options, key=lambda each: (each.instructions, -each.saved_bytes)):
        if all(other.saved_bytes < one.saved_bytes for other in found):
            found.append(one)
    return found


def test_no_choice_of_constants_is_cheaper() -> None:
    """Against every combination of every way that keeps the peak."""
    program, limit = planned(252_000), 252_000
    plain = planned(1 << 20)
    owned = ((prim.name, constant) for prim in plain.steps.prim_funcs for constant in prim.constants)
    pieces = merge(owned, plain.constants.candidates)
    packings = [
        [each for each in unit.options if each.pool == "sram" and each.end_bytes <= PEAK_BYTES]
        for unit in units(plain, pieces, "balanced").units
    ]
    kept = [unbeaten(options) for options in packings]
    need = PLAIN_BYTES - limit
    costs = [
        sum(each.instructions for each in choice if each)
        for choice in product(*([None, *options] for options in kept))
        if sum(each.saved_bytes for each in choice if each) >= need
    ]
    assert program.constants.compression is not None
    assert (
        program.constants.compression.instructions
        == program.constants.compression.instructions_bound
        == min(costs)
    )


def test_the_least_that_is_told_is_reached() -> None:
    with pytest.raises(CodegenError) as caught:
        planned(100_000)
    (message,) = caught.value.messages
    assert message.code == "E402"
    head, told = message.text.splitlines()[:2]
    first = "lacks 180912 bytes: constants need 280912 bytes, the limit is 100000; the biggest are fc9_stream"
    assert head.startswith(first)
    begin = "  the smallest limit for which a plan was found is "
    assert told.startswith(begin) and told.endswith(" bytes")
    reached = int(told.removeprefix(begin).split()[0])
    program = planned(reached)
    assert program.constants.size_bytes <= reached
    with pytest.raises(CodegenError, match=rf"found is {reached} bytes\n"):
        planned(reached - 1)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"compress": "off"}, "--compress off"),
        ({"interface": Interface(constants=ConstantsMode.EXTERNAL)}, "--constants external"),
        ({"interface": Interface(pools=PoolOwner.CALLER)}, "--pools caller"),
        ({"alone": False}, "several models in one firmware"),
        ({"alone": False, "compress": "off"}, "--compress off and several models in one firmware"),
    ],
)
def test_what_excludes_compression_is_told(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(CodegenError) as caught:
        planned(250_000, **options)
    (message,) = caught.value.messages
    assert message.code == "E402" and "compressed" not in message.text
    assert (message.help or "").endswith(f"; constants are not compressed with {reason}")


def test_constants_that_a_table_gives_a_place_are_why_nothing_is_compressed() -> None:
    """E402 said "compression gains nothing" of constants that would have shrunk by a third, and were not
    looked at because a `[[constant]]` table of codegen.toml says where their bytes lie."""
    rules = (ConstantRule(memory="flash", larger_than=1),)
    with pytest.raises(CodegenError) as caught:
        planned(250_000, constant_rules=rules)
    (message,) = caught.value.messages
    assert (message.code, message.where) == ("E402", "constant pool flash")
    assert message.text == (
        "lacks 30912 bytes: constants need 280912 bytes, the limit is 250000; the biggest are fc9_stream "
        "88320, fc0_stream 83200, fc1_stream 17664, fc2_stream 17664, fc3_stream 17664\n"
        "  the smallest limit for which a plan was found is 270920 bytes\n"
        "  that plan takes 767 bytes of RAM and about 1,225,064 instructions, the one without the limit "
        "1,920 and 265,456\n"
        "  270920 bytes are not compressed: [[constant]] tables of codegen.toml say where they lie"
    )
    assert message.help == ("try --pool flash=270920, a board with more read-only memory, or a smaller model")
    assert planned(270_920, constant_rules=rules).constants.size_bytes == 270_920


def test_every_reason_not_to_compress_is_told_with_its_bytes() -> None:
    """Bytes that a table pins, and bytes that compressing does not make smaller, are two reasons."""
    rules = (ConstantRule(memory="flash", name="conv9"),)
    with pytest.raises(CodegenError) as caught:
        planned(60_000, key=RESNET, constant_rules=rules)
    (message,) = caught.value.messages
    told = [line for line in message.text.splitlines() if " bytes are not compressed: " in line]
    reasons = dict(line.strip().split(" bytes are not compressed: ")[::-1] for line in told)
    assert int(reasons["[[constant]] tables of codegen.toml say where they lie"]) > 36_864
    assert int(reasons["compressing makes them no smaller"]) > 0


def test_a_constant_with_a_place_of_its_own_stays_as_it_is() -> None:
    """A rule says where its bytes are, and whoever wrote it may read them there."""
    rules = (ConstantRule(memory="flash", larger_than=20_000),)
    program = planned(262_000, constant_rules=rules)
    assert program.constants.unpacked
    for step in program.steps.prim_funcs:
        for constant in step.constants:
            if constant.memory_scope is not None:
                assert (step.name, constant.role) not in {copy.user for copy in program.constants.unpacked}
                assert constant.data.nbytes > 20_000


def test_equal_choices_give_equal_programs() -> None:
    one, two = planned(230_000), planned(230_000)
    assert (
        one.constants.staged == two.constants.staged
        and one.constants.compression == two.constants.compression
    )
    for first, second in zip(one.constants.pools, two.constants.pools, strict=True):
        assert [each.data.tobytes() for each in first.members] == [
            each.data.tobytes() for each in second.members
        ]


def test_plain_constants_are_not_touched_where_they_fit() -> None:
    assert planned(PLAIN_BYTES).constants.compression is None
    program = planned(PLAIN_BYTES - 10_000)
    assert program.constants.compression is not None and 0 < len(program.constants.unpacked) < 5


def test_blocks_decode_what_their_layers_read() -> None:
    program = planned(77_000, key=RESNET)
    assert program.constants.size_bytes <= 77_000
    blocks = {prim.name for prim in program.steps.prim_funcs if prim.block}
    assert blocks & {copy.user[0] for copy in program.constants.unpacked}


def nested(folder: Path) -> Path:
    """Three layers: the weights of the second are the first rows of the first one's, those of the third are
    rows in the middle of them."""
    rng = np.random.default_rng(1)
    weights = rng.choice(np.array([-0.5, 0.25, 0.5, 1], np.float32), (64, 64))
    rows = {"0": weights, "1": weights[:32], "2": weights[8:16]}
    constants = {f"w{name}": each for name, each in rows.items()}
    constants |= {f"b{name}": np.zeros(len(each), np.float32) for name, each in rows.items()}
    made = model(
        node("Gemm", "x w0 b0", "a", transB=1),
        node("Gemm", "a w1 b1", "b", transB=1),
        node("Gemm", "a w2 b2", "c", transB=1),
        node("Concat", "b c", "y", axis=1),
        x=(1, 64),
        constants=constants,
    )
    path = folder / "nested.onnx"
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.qemu
def test_constants_in_which_others_lie_are_compressed(tmp_path: Path) -> None:
    """They were kept as they are, with one byte of another constant in them too: 13.6 MB of the 39.4 of a
    ResNet-50 that has one weight a layer. Who reads the first bytes decodes those; a part from elsewhere is
    stored by itself again."""
    path, limit = nested(tmp_path), 6_000
    options = Options(board="mps2-an386", pool_limits={"flash": limit})
    program = plan_model(path, load_board("mps2-an386"), options, share=Share(alone=True)).program
    assert program.constants.size_bytes <= limit
    decoded = {copy.user[0]: copy.size_bytes for copy in program.constants.unpacked}
    assert decoded == {"fc0": 16_640, "fc1": 8_320}
    sizes = {member.users: member.data.nbytes for pool in program.constants.pools for member in pool.members}
    assert sizes[(("fc0", "stream"), ("fc1", "stream"))] < 4_000
    assert sizes[(("fc2", "stream"),)] == 2_080
    found = codegen.run(path, options)
    assert found.run is not None and found.plan is not None
    assert all(output.matches for output in found.run.outputs)
    assert [pool.peak_bytes for pool in found.run.pools] == [pool.peak_bytes for pool in found.plan.pools]


def test_the_same_choice_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where constants fit the pools' sum but not side by side, one byte more was asked for each time: 690
    choices for ResNet-50 in three pools, of which six differ, in five minutes."""
    tried: list[tuple[int | None, ...]] = []

    def noted(groups: Sequence[Sequence[KnapsackItem]], need: int) -> Chosen | None:
        found = cheapest(groups, need)
        tried.append(found.items if found else ())
        return found

    monkeypatch.setattr(compressing, "cheapest", noted)
    plain = planned(PLAIN_BYTES)
    flash = plain.constants.candidates[0]
    pools = [replace(flash, name=f"flash{index}", limit_bytes=85_000) for index in range(3)]
    constants = replace(plain.constants, candidates=tuple(pools), pools=())
    found = linked(
        replace(plain, constants=constants), "auto", optimize="speed", may_raise=True, may_grow=True
    )
    assert len(found.constants.pools) == 3
    assert 10 < len(tried) == len(set(tried))


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
    pools = board_pools(SearchOptions(pool_limits={"qspi": 5}), AN547, emulated=True)
    assert [pool.name for pool in pools] == ["dtcm", "sram", "bram", "ddr"]
    with pytest.raises(CodegenError, match=r"E215.*has no pool flash\n.*dtcm, sram, bram, ddr, itcm, qspi"):
        board_pools(SearchOptions(pool_limits={"flash": 5}), AN547, emulated=True)


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
    module = importers.load(model_path("ds_cnn"))
    let = [let for let in module.main.body if let.call.op.name == op][-1]
    assert let.var.type.shape[2] == 5
    binder = Binder({id_: each.data for id_, each in module.constants.items()}, AN547.target)
    able = [*binder.able(let), *binder.able(let, in_place=True)]
    [bound] = [binder.bind(each, let, "step") for each in able if each.name == kernel]
    weights = let.call.args[1]
    assert isinstance(weights, ConstRef)
    assert constant_reads(bound, bound.constants[0]) == bound.macs / weights.type.elements / pixels
