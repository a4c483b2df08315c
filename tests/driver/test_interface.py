"""What cannot be called as asked for is refused, with the flag that asked."""

from dataclasses import replace

import pytest

from codegen.driver.interface import check_interface, check_rules, stage_mode
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.plan.bundle import together
from codegen.plan.constant_rules import ConstantRule
from codegen.plan.program import ConstantsMode, Interface, PoolOwner, Program
from tests.emit import samples

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
