"""Faults in words: which exception, why, where."""

from collections.abc import Mapping

from codegen.board.link.protocol import Fault, Refusal
from codegen.errors import CodegenError, Message
from codegen.targets.arm import FAULTS

_MMFAR_VALID = 1 << 7
_BFAR_VALID = 1 << 15


def describe(fault: Fault, symbols: Mapping[str, tuple[int, int]]) -> str:
    """One line: exception, reasons, address, pc and lr with the functions they lie in."""
    name = FAULTS.exceptions.get(fault.exception, f"exception {fault.exception}")
    reasons = [text for bit, text in FAULTS.reasons.items() if fault.cfsr >> bit & 1]
    parts = [f"{name}: {', '.join(reasons)}" if reasons else name]
    if fault.cfsr & _MMFAR_VALID:
        parts.append(f"at address 0x{fault.mmfar:08x}{_object(fault.mmfar, symbols)}")
    elif fault.cfsr & _BFAR_VALID:
        parts.append(f"at address 0x{fault.bfar:08x}{_object(fault.bfar, symbols)}")
    for register, value in (("pc", fault.pc), ("lr", fault.lr)):
        if value:
            parts.append(f"{register} 0x{value:08x}{_function(value, symbols)}")
    if fault.cfsr:
        parts.append(f"cfsr 0x{fault.cfsr:08x}")
    return ", ".join(parts)


def _function(address: int, symbols: Mapping[str, tuple[int, int]]) -> str:
    for name, (start, size_bytes) in symbols.items():
        if start & ~1 <= address < (start & ~1) + size_bytes:
            return f" ({name})"
    return ""


def _object(address: int, symbols: Mapping[str, tuple[int, int]]) -> str:
    for name, (start, size_bytes) in symbols.items():
        if start <= address < start + size_bytes:
            return f" ({name} + {address - start})"
    return ""


def model_fault(fault: Fault, place: str, symbols: Mapping[str, tuple[int, int]]) -> CodegenError:
    """E620: the model faulted at `place` (a step by number and name)."""
    return CodegenError(
        Message(
            code="E620",
            where=place,
            text=f"the target faulted: {describe(fault, symbols)}",
            help="`codegen validate` shows whether earlier steps were right; "
            "a stack overflow needs more stack_bytes in a board file of your own",
        )
    )


def refusal(status: int, place: str, regions: int) -> CodegenError:
    """E622: the step at `place` cannot be sandboxed by an MPU of so many `regions`."""
    if status == Refusal.NO_REGION:
        text = f"its buffers lie in more separate ranges than the MPU has regions ({regions}) to open"
        advice = "run without --sandbox; another --planner may leave fewer gaps"
    else:
        text = "a buffer does not start at a multiple of 32 bytes, as the MPU needs it"
        advice = "build with --sandbox what is to run with it"
    return CodegenError(Message(code="E622", where=place, text=f"cannot be sandboxed: {text}", help=advice))


def link_fault(fault: Fault, symbols: Mapping[str, tuple[int, int]]) -> CodegenError:
    """E621: the test firmware itself faulted."""
    return CodegenError(
        Message(
            code="E621",
            text=f"the test firmware faulted outside the model: {describe(fault, symbols)}",
            help="report this; a wrong address in a board file of your own (regions, uart) does it too",
        )
    )
