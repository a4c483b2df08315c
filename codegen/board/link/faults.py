"""Faults in words: which exception, why, where."""

from collections.abc import Mapping

from codegen.board.link.protocol import FaultRecord, Refusal
from codegen.errors import CodegenError, Message
from codegen.targets.core_family import CoreFamily

Symbols = Mapping[str, tuple[int, int]]


class ModelFaulted(Exception):
    """The model faulted on the target, at `place`: a step by number and name."""

    def __init__(self, fault: FaultRecord, place: str) -> None:
        super().__init__("the model faulted")
        self.fault, self.place = fault, place


def describe(fault: FaultRecord, family: CoreFamily, symbols: Symbols) -> str:
    """One line: what happened, the address, code addresses with the functions they lie in."""
    report = family.decode_fault(fault)
    parts = [report.text]
    if report.address is not None:
        parts.append(f"at address 0x{report.address:08x}{_object(report.address, symbols)}")
    parts += [
        f"{name} 0x{value:08x}{_function(value, symbols)}"
        for name, value in report.registers.items()
        if value
    ]
    return ", ".join([*parts, *(f"{name} 0x{value:08x}" for name, value in report.status.items() if value)])


def _function(address: int, symbols: Symbols) -> str:
    for name, (start, size_bytes) in symbols.items():
        if start <= address < start + size_bytes:
            return f" ({name})"
    return ""


def _object(address: int, symbols: Symbols) -> str:
    for name, (start, size_bytes) in symbols.items():
        if start <= address < start + size_bytes:
            return f" ({name} + {address - start})"
    return ""


def model_fault(faulted: ModelFaulted, family: CoreFamily, symbols: Symbols) -> CodegenError:
    """E620: the model faulted."""
    return CodegenError(
        Message(
            code="E620",
            where=faulted.place,
            text=f"the target faulted: {describe(faulted.fault, family, symbols)}",
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


def link_fault(fault: FaultRecord, family: CoreFamily, symbols: Symbols) -> CodegenError:
    """E621: the test firmware itself faulted."""
    return CodegenError(
        Message(
            code="E621",
            text=f"the test firmware faulted outside the model: {describe(fault, family, symbols)}",
            help="report this; a wrong address in a board file of your own (regions, uart) does it too",
        )
    )
