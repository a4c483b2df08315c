"""Checks that firmware can call a model in the way that the options ask for."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages
from codegen.ir.rules import ConstantRule
from codegen.problem.shortage import DoesNotLink
from codegen.program.interface import Interface
from codegen.program.program import Bundle, Program, own_pools, second_core_steps, uses_second_core
from codegen.search import report_unused
from codegen.settings import CompressMode, Firmware, StageMode


def check_interface(bundle: Bundle) -> None:
    """Raise CodegenError for several models with the caller's pools or external constants (E260), for a model
    that has no constants to hand over (E261), no pools to own (E262) or no steps to call (E269), and for
    steps on core 1 of models that may run at the same time (E248) or that would call the application from
    there (E249)."""
    interface = bundle.programs[0].interface
    messages = Messages()
    flags = [("--pools caller", interface.caller_pools), ("--constants external", interface.external)]
    set_flags = [flag for flag, is_set in flags if is_set]
    if set_flags and not bundle.is_single:
        names = ", ".join(program.name for program in bundle.programs)
        messages.add(
            "E260",
            f"{' and '.join(set_flags)}: for one model, not for {names} in one firmware",
            help="build each model into a folder of its own, and compile the runtime files once",
        )
    if interface.busy_flag and interface.caller_pools:
        text = "--busy-flag with --pools caller: instances have memory of their own each"
        help_ = "leave out one of them: calls with different pools may interrupt each other"
        messages.add("E278", text, help=help_)
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
    for program in bundle.programs:
        if interface.is_stepwise and not program.steps.prim_funcs:
            messages.add("E269", "has no steps to call", where=program.name, help="leave out --entry steps")
    _check_second_core(bundle, messages)
    messages.raise_if_any()


def check_firmware(firmware: Firmware, bundle: Bundle) -> None:
    """Raise CodegenError E286 for a firmware that these models cannot have."""
    if firmware == "test":
        return
    from codegen import emit

    refusal = emit.mlperf_refusal(bundle.programs)
    if refusal is not None:
        raise CodegenError(
            Message(
                code="E286",
                where=", ".join(program.name for program in bundle.programs),
                text=f"--firmware {firmware}: {refusal}",
                help="leave out --firmware; of a float model --io-types int8 makes an int8 one at its edges",
            )
        )


def _check_second_core(bundle: Bundle, messages: Messages) -> None:
    """Core 1 does what one context of core 0 posts, one step after the other."""
    beside = [name for group in bundle.concurrent for name in group]
    for program in bundle.programs:
        steps = [program.steps.prim_funcs[step] for step in second_core_steps(program)]
        if steps and program.name in beside:
            messages.add(
                "E248",
                f"has steps on core 1, which serves one model at a time, and may run beside another "
                f"(--concurrent): {', '.join(prim.name for prim in steps)}",
                where=program.name,
                help="leave it out of --concurrent, or its device_id out of codegen.toml",
            )
        for prim in steps:
            if prim.block is not None and prim.block.streamed:
                messages.add(
                    "E249",
                    "takes the input row by row (--stream-input), so the application's function would be "
                    "called on core 1",
                    where=prim.let.where,
                    help="leave out --stream-input, or the step's device_id",
                )


def check_sizes(options: Options, *others: str) -> None:
    """Raise CodegenError E284 naming all that sizes known as ranges do not go together with; `others`: flags
    and verbs that are in use besides `options`."""
    used = [
        *others,
        *(["--stream-input"] if options.stream_input else []),
        *(["device_id of [[place]]"] if any(place.device.device_id for place in options.places) else []),
    ]
    if options.has_ranges and used:
        text = f"sizes that are ranges do not go together with {' and '.join(used)}"
        ranged = next(dim for dim in options.dims if dim.is_range)
        name = str(ranged).partition("=")[0]
        help_ = f"leave one of them out: one size goes with them all, --dim {name}=37"
        raise CodegenError(Message(code="E284", where=f"--dim {ranged}", text=text, help=help_))


def check_port(bundle: Bundle, port: str | None) -> None:
    """Raise CodegenError E608 for steps on core 1 of a board behind `port`: only QEMU's has been started."""
    if port is not None and uses_second_core(bundle.programs):
        raise CodegenError(
            Message(
                code="E608",
                where=bundle.programs[0].board.name,
                text="steps on core 1 run on QEMU only: no real second core has been tried",
                help="leave --port out; `codegen build` makes the firmware",
            )
        )


def check_rules(rules: Sequence[ConstantRule], programs: Sequence[Program]) -> None:
    """Raise CodegenError E245 for rules that apply to no constant of any model."""
    messages = Messages()
    report_unused(rules, [prim for program in programs for prim in program.steps.prim_funcs], messages)
    messages.raise_if_any()


def stage_mode(options: Options) -> StageMode:
    """Decide where copies of constants may go: as the options say, by default wherever the linker allows
    them.

    Copies lie at addresses that the linker knows, and the entry function makes them. Raises CodegenError E247
    for `use` where firmware calls the model in another way.
    """
    interface = options.interface
    if interface == Interface():
        return options.stage
    if options.stage != "use":
        return "off"
    flags = [
        ("--pools caller", interface.caller_pools),
        ("--constants external", interface.external),
        ("--entry steps", interface.is_stepwise),
    ]
    raise CodegenError(
        Message(
            code="E247",
            where=f"--stage {options.stage}",
            text=f"constants cannot be copied with {' and '.join(flag for flag, is_set in flags if is_set)}",
            help="leave out --stage, or that",
        )
    )


def compress_mode(options: Options, *, alone: bool) -> CompressMode:
    """Decide if constants may be compressed; `alone` says that the build has one model."""
    return "off" if _never_compressed(options, alone=alone) else "auto"


def _never_compressed(options: Options, *, alone: bool) -> str:
    """The reason that forbids compressed constants; empty if there is none.

    Decoding needs buffers and constants at addresses that the linker knows. Constants of several models are
    linked together after each model was planned by itself.
    """
    reasons = (
        ("--compress off", options.compress == "off"),
        ("several models in one firmware", not alone),
        ("--constants external", options.interface.external),
        ("--pools caller", options.interface.caller_pools),
    )
    return " and ".join(words for words, is_so in reasons if is_so)


@contextmanager
def explaining(options: Options, *, alone: bool) -> Generator[None]:
    """Constants that do not fit and are not compressed: note why not."""
    try:
        yield
    except DoesNotLink as missed:
        excluded = _never_compressed(options, alone=alone)
        raise DoesNotLink(replace(missed.shortage, excluded=excluded)) from None
