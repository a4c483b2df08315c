"""Published timings of Cortex-M cores, and what they make of instructions that ran.

Sources: Technical Reference Manuals of Cortex-M0 (ARM DDI 0432, 3.3), M0+ (DDI 0484, 3.3), M3 (DDI 0337, 3.3)
and M4 (DDI 0439, 3.3 and 7.2). Arm publishes no such table for Cortex-M33 (the M4's is used), M7 (dual issue:
see `Timing.dual_issue`) and M55 (the M4's for scalar code; a vector instruction takes two cycles for its four
beats and overlaps a neighbour that uses another unit, as DDI 0555 describes beat-wise execution). Memory
answers at once here; what a part's flash adds comes from the plugin's model (runtime_c/qemu_plugin/flash.h).
docs/cycles.md states the rules.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from codegen.targets.arm.disassembly import list_bytes
from codegen.targets.core_family import CycleCounter
from codegen.targets.instructions import Executed, Instruction


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductTiming:
    """Cycles of integer products and quotients."""

    multiply: int = 1
    multiply_add: int = 1
    long_multiply: int = 1
    divide: int = 7


PRODUCTS = ProductTiming()


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """Cycles of one core's instructions; everything not named takes one."""

    load: int = 2
    """A single load or store in front of which no other one stands."""
    pipelined_load: int = 1
    """One directly behind another single load or store: address and data phases overlap."""
    store: int = 1
    list_base: int = 1
    """LDM, STM, PUSH, POP, LDRD, STRD: this and one cycle a register."""
    refill: int = 1
    """Extra cycles of a taken direct branch: the pipeline refills."""
    call_refill: int = 2
    """BL, BX, POP {pc} and other indirect branches: as `refill`."""
    products: ProductTiming = PRODUCTS
    float_multiply_add: int = 3
    float_divide: int = 14
    dual_issue: bool = False
    """Two neighbouring instructions may share a cycle if the second needs no result of the first, at most one
    multiplies and at most one is a branch."""
    vector: int = 2
    """An MVE instruction behind one that uses the same unit; behind another unit's: one less."""


TIMINGS = {
    "cortex-m0": Timing(pipelined_load=2, store=2, refill=2, call_refill=3),
    "cortex-m0plus": Timing(pipelined_load=2, store=2, refill=1, call_refill=2),
    "cortex-m3": Timing(products=ProductTiming(multiply_add=2, long_multiply=4)),
    "cortex-m4": Timing(),
    "cortex-m7": Timing(load=1, refill=0, call_refill=1, dual_issue=True, float_multiply_add=1),
    "cortex-m33": Timing(),
    "cortex-m55": Timing(load=1, refill=1),
}
"""By the name gcc knows the core by."""

CYCLES_PER_INSTRUCTION: dict[str, float] = {
    "cortex-m0": 1.332,
    "cortex-m0plus": 1.296,
    "cortex-m3": 1.976,
    "cortex-m4": 1.430,
    "cortex-m7": 1.194,
    "cortex-m33": 1.430,
    "cortex-m55": 1.273,
}
"""By core, over all networks that `python benchmarks/core_cycles.py` runs, which prints it."""

_SINGLE_LOAD = re.compile(r"^(?:v?ldr(?:s?[bh])?t?|ldrex[bh]?)$")
_SINGLE_STORE = re.compile(r"^(?:v?str[bh]?t?|strex[bh]?)$")
_PAIR = re.compile(r"^(?:ldrd|strd)$")
_LIST = re.compile(r"^(?:v?push|v?pop|v?ldm|v?stm)(?:ia|db|fd|ea)?$")
_LONG = re.compile(r"^(?:[us]mull|[us]mlal|umaal)s?$")
_MULTIPLY_ADD = re.compile(r"^(?:mla|mls)$")
_DIVIDE = re.compile(r"^[us]div$")
_FLOAT_ADD = re.compile(r"^vf?n?m(?:la|ls|a|s)\.f32$")
_FLOAT_DIVIDE = re.compile(r"^v(?:div|sqrt)\.f32$")
_VECTOR = re.compile(r"\bq[0-7]\b")
_DIRECT = re.compile(r"^(?:b(?!l|x|f|i|k)\w{0,2}|cbn?z|le(?:tp)?)$")
_CONDITION = "eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_CONDITIONAL = re.compile(rf"^(?P<plain>v?[a-z]+?[a-z0-9]*?)(?:{_CONDITION})(?P<type>\.\w+)?$")
_REGISTER = re.compile(r"\b(?:r\d+|sl|fp|ip|sp|lr|pc|s\d+|d\d+|q[0-7])\b")
_KNOWN_PLAIN = re.compile(
    r"^(?:adcs|sbcs|bics|muls|movs|mvns|lsls|asrs|rors|smlals|umlals|tst|teq|vmls|mls|b\w*cs)$"
)


def cycles(run: Sequence[Executed], timing: Timing) -> float:
    """Cycles of everything that ran, in address order; half cycles come from `dual_issue`."""
    total = 0.0
    before: Executed | None = None
    paired = False
    for op in run:
        if not op.executions:
            before, paired = None, False
            continue
        one = _alone(op.instruction, before.instruction if before else None, timing) * op.executions
        if timing.dual_issue and before and not paired and _together(before.instruction, op.instruction):
            shared = min(before.executions - before.taken, op.executions)
            one -= shared
            paired = True
        else:
            paired = False
        total += one + _refill(op, timing) * op.taken
        before = op
    return total


def _alone(instruction: Instruction, before: Instruction | None, timing: Timing) -> float:
    """Cycles of one execution that does not branch."""
    if _VECTOR.search(instruction.operands):
        other = before is not None and _VECTOR.search(before.operands) is not None
        return timing.vector - 1 if other and _unit(instruction) != _unit(before) else timing.vector
    name = _plain(instruction.mnemonic)
    if _SINGLE_STORE.match(name):
        return timing.store
    if _SINGLE_LOAD.match(name):
        return _single_load(instruction, before, timing)
    if _PAIR.match(name):
        return timing.list_base + 2
    if _LIST.match(name):
        return timing.list_base + list_bytes(instruction.operands) // 4
    return _arithmetic(name, timing)


def _single_load(instruction: Instruction, before: Instruction | None, timing: Timing) -> float:
    follows = before is not None and _is_single(before) and "pc" not in instruction.operands.split(",")[0]
    return timing.pipelined_load if follows else timing.load


def _is_single(instruction: Instruction) -> bool:
    name = _plain(instruction.mnemonic)
    return bool(_SINGLE_LOAD.match(name) or _SINGLE_STORE.match(name))


def _arithmetic(name: str, timing: Timing) -> float:
    rules = (
        (_LONG, timing.products.long_multiply),
        (_MULTIPLY_ADD, timing.products.multiply_add),
        (_DIVIDE, timing.products.divide),
        (_FLOAT_ADD, timing.float_multiply_add),
        (_FLOAT_DIVIDE, timing.float_divide),
    )
    for pattern, cost in rules:
        if pattern.match(name):
            return cost
    return timing.products.multiply if name.startswith("mul") else 1


def _unit(instruction: Instruction | None) -> str:
    name = instruction.mnemonic if instruction else ""
    if name.startswith(("vldr", "vstr", "vld2", "vld4", "vst2", "vst4")):
        return "memory"
    return "multiply" if name.startswith(("vml", "vmul", "vqdm", "vqrdm", "vrml")) else "arithmetic"


def _refill(op: Executed, timing: Timing) -> int:
    """Cycles beyond its own that a branch costs when it is taken."""
    return timing.refill if _DIRECT.match(op.instruction.mnemonic) else timing.call_refill


def _together(first: Instruction, second: Instruction) -> bool:
    """True if a dual-issue core starts both at once."""
    names = (_plain(first.mnemonic), _plain(second.mnemonic))
    slow = (_LIST, _DIVIDE, _PAIR, _FLOAT_DIVIDE)
    if any(pattern.match(name) for pattern in slow for name in names):
        return False
    if all(name.startswith(("mul", "mla", "mls", "sm", "um")) for name in names):
        return False
    if any(_DIRECT.match(name) or name.startswith("b") for name in names[:1]):
        return False
    written = _REGISTER.findall(first.operands)[:1]
    stores = _SINGLE_STORE.match(names[0]) is not None
    return stores or not written or written[0] not in _REGISTER.findall(second.operands)


def _plain(mnemonic: str) -> str:
    """`addeq` -> `add`: a conditional instruction costs what the plain one does, executed or not."""
    if _KNOWN_PLAIN.match(mnemonic):
        return mnemonic
    match = _CONDITIONAL.match(mnemonic)
    return match["plain"] + (match["type"] or "") if match and len(match["plain"]) > 1 else mnemonic


def counters() -> dict[str, CycleCounter]:
    """By core: cycles of what ran."""
    return {cpu: partial(cycles, timing=timing) for cpu, timing in TIMINGS.items()}
