"""Whether firmware can call a model in the way that was asked for."""

from collections.abc import Sequence

from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages
from codegen.plan.bundle import Bundle, own_pools
from codegen.plan.constant_rules import ConstantRule
from codegen.plan.program import Interface, Program
from codegen.search import StageMode, report_unused


def check_interface(bundle: Bundle) -> None:
    """Raise CodegenError for several models with the caller's pools or external constants (E260), and for a
    model that has no constants to hand over (E261) or no pools to own (E262)."""
    interface = bundle.programs[0].interface
    messages = Messages()
    wanted = [("--pools caller", interface.caller_pools), ("--constants external", interface.external)]
    given = [flag for flag, is_set in wanted if is_set]
    if given and not bundle.is_single:
        names = ", ".join(program.name for program in bundle.programs)
        messages.add(
            "E260",
            f"{' and '.join(given)}: for one model, not for {names} in one firmware",
            help="build each model into a folder of its own, and compile the runtime files once",
        )
    for program in bundle.programs if bundle.is_single else ():
        if interface.external and not bundle.constants:
            messages.add(
                "E261",
                "has no constants to hand over",
                where=program.name,
                help="leave out --constants external",
            )
        if interface.caller_pools and not own_pools(program):
            messages.add(
                "E262",
                "uses no pool: everything is the caller's already",
                where=program.name,
                help="leave out --pools caller",
            )
    messages.raise_if_any()


def check_rules(rules: Sequence[ConstantRule], programs: Sequence[Program]) -> None:
    """Raise CodegenError E245 for rules that apply to no constant of any model."""
    messages = Messages()
    report_unused(rules, [prim for program in programs for prim in program.prim_funcs], messages)
    messages.raise_if_any()


def stage_mode(options: Options) -> StageMode:
    """Where copies of constants may go: as asked for, else wherever they can.

    They lie at addresses that the linker knows, and the entry function makes them. Raises CodegenError E247
    for `use` where firmware calls the model in another way.
    """
    interface = options.interface
    if interface == Interface():
        return options.stage
    if options.stage != "use":
        return "off"
    ways = [
        ("--pools caller", interface.caller_pools),
        ("--constants external", interface.external),
        ("--entry steps", interface.is_stepwise),
    ]
    raise CodegenError(
        Message(
            code="E247",
            where=f"--stage {options.stage}",
            text=f"constants cannot be copied with {' and '.join(flag for flag, is_set in ways if is_set)}",
            help="leave out --stage, or that",
        )
    )
