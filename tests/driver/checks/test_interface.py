"""What cannot be called as asked for is refused, with the flag that asked."""

from dataclasses import replace

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.checks.interface import check_interface, check_port, check_rules, stage_mode
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.plan.constants.constant_rules import ConstantRule
from codegen.plan.models.bundling import together
from codegen.program.interface import ConstantsMode, Interface, IoMode, PoolOwner
from codegen.program.program import Program
from tests.emit import samples
from tests.emit.variants import on_core_1
from tests.testdata import model_path

OWNED = Interface(pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL)


def refused(*programs: Program, interface: Interface = OWNED) -> str:
    with pytest.raises(CodegenError) as caught:
        check_interface(together([replace(program, interface=interface) for program in programs]))
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_several_models_share_neither_the_callers_pools_nor_an_image() -> None:
    text = refused(samples.counter(), samples.mixed())
    flags = "--pools caller and --constants external"
    assert text.startswith(f"error[E260] {flags}: for one model, not for counter, mixed in one firmware")
    only = refused(samples.counter(), samples.mixed(), interface=Interface(pools=PoolOwner.CALLER))
    assert only.startswith("error[E260] --pools caller: for one model")


def test_a_model_without_constants_or_pools_has_none_to_hand_over() -> None:
    text = refused(samples.bare())
    assert "error[E261] bare: has no constants to hand over\nhelp: leave out --constants external" in text
    assert "error[E262] bare: uses no pool: everything is the caller's already" in text


def test_what_can_be_called_passes() -> None:
    for program in (samples.counter(), samples.mixed()):
        check_interface(together([replace(program, interface=OWNED)]))
    check_interface(together([samples.counter(), samples.bare()]))


def test_steps_on_core_1_are_of_one_model_at_a_time() -> None:
    split, other = on_core_1(samples.counter(), "lut1", "mean4"), samples.mixed(io=IoMode.POOL)
    check_interface(together([split, other]))
    beside = replace(together([split, other]), concurrent=(("counter", "mixed"),))
    with pytest.raises(CodegenError) as caught:
        check_interface(beside)
    assert str(caught.value) == (
        "error[E248] counter: has steps on core 1, which serves one model at a time, and may run beside "
        "another (--concurrent): lut1, mean4\n"
        "help: leave it out of --concurrent, or its device_id out of codegen.toml"
    )


def test_steps_on_core_1_take_no_rows_from_the_application() -> None:
    options = Options(board="mps2-an521", stream_input=True)
    board = load_board(options.board)
    program = plan_model(model_path("mlperf_tiny/vww_96_int8"), board, options).program
    check_interface(together([program]))
    [first] = [prim for prim in program.prim_funcs if prim.block is not None and prim.block.streamed]
    with pytest.raises(CodegenError, match=r"E249.*the application's function would be called on core 1"):
        check_interface(together([on_core_1(program, first.let.var.name)]))


def test_a_real_second_core_is_not_run() -> None:
    split = together([on_core_1(samples.counter(), "lut1")])
    check_port(split, None)
    check_port(together([samples.counter()]), "/dev/ttyACM0")
    with pytest.raises(CodegenError, match=r"E608\] host: steps on core 1 run on QEMU only"):
        check_port(split, "/dev/ttyACM0")


def test_copies_of_constants_are_not_left_out_silently() -> None:
    assert stage_mode(Options()) == "auto"
    assert stage_mode(Options(stage="use")) == "use"
    assert stage_mode(Options(interface=OWNED)) == "off"
    assert stage_mode(Options(interface=OWNED, stage="off")) == "off"
    assert stage_mode(Options(interface=OWNED, stage="auto")) == "off"
    with pytest.raises(CodegenError) as caught:
        stage_mode(Options(interface=OWNED, stage="use"))
    assert str(caught.value).startswith(
        "error[E247] --stage use: constants cannot be copied with --pools caller"
    )


def test_a_rule_for_constants_may_be_for_one_of_several_models() -> None:
    programs = [samples.counter(), samples.mixed()]
    first, second = ({prim.name for prim in each.prim_funcs if prim.constants} for each in programs)
    for name in (min(first - second), min(second - first)):
        check_rules([ConstantRule(memory="flash", name=name)], programs)
    with pytest.raises(CodegenError, match=r"E245\] rule 1: applies to no constant: name = 'nothing'"):
        check_rules([ConstantRule(memory="flash", name="nothing", where="rule 1")], programs)
