"""RISC-V: flags by features, instructions read, faults in words, refusals."""

from dataclasses import replace

import pytest

from codegen.board import load_board
from codegen.board.catalog.boards import check
from codegen.errors import Messages
from codegen.ir import Target
from codegen.targets.instructions import Executed, Instruction
from codegen.targets.riscv import FAMILY, disassembly
from codegen.targets.riscv.extensions import compile_flags, cpu_words, link_flags
from codegen.targets.riscv.timing import TIMINGS, cycles


def _target(features: str, cpu: str = "rv32") -> Target:
    return Target(cpu=cpu, features=frozenset(features.split()))


@pytest.mark.parametrize(
    ("features", "compiled", "linked"),
    [
        ("", "-march=rv32im -mabi=ilp32", "-march=rv32im -mabi=ilp32"),
        ("c", "-march=rv32imc -mabi=ilp32", "-march=rv32im -mabi=ilp32"),
        ("a c zba zbb zbs", "-march=rv32imac_zba_zbb -mabi=ilp32", "-march=rv32imac -mabi=ilp32"),
        ("a f c", "-march=rv32imafc -mabi=ilp32f", "-march=rv32imafc -mabi=ilp32f"),
        ("a c zve32x", "-march=rv32imac_zve32x -mabi=ilp32", "-march=rv32imac -mabi=ilp32"),
        ("f c", "-march=rv32imfc -mabi=ilp32f", "-march=rv32imf -mabi=ilp32f"),
    ],
)
def test_code_is_compiled_for_all_and_linked_for_letters(features: str, compiled: str, linked: str) -> None:
    """gcc 12 takes the library of RV64 for any instruction set that it has no library of."""
    assert " ".join(compile_flags(_target(features))) == compiled
    assert " ".join(link_flags(_target(features))) == linked


def test_words_for_the_emulators_core() -> None:
    off = "s=false,h=false,d=false"
    plain = "c=true,f=true,zba=false,zbb=false,zbkb=false,zbs=false"
    assert cpu_words(_target("a c")) == ("-cpu", f"rv32,{off},{plain}")
    vectors = cpu_words(_target("a c zve32x zvl256b"))[1]
    assert "f=true" in vectors and vectors.endswith("Zve32f=true,vlen=256")
    assert cpu_words(_target("a c", "e31")) == ()


@pytest.mark.parametrize(
    ("cpu", "reason"),
    [
        ("rv32ec", "it has no multiplier (extension M)"),
        ("qingke-v2a", "it has no multiplier (extension M)"),
        ("rv64gc", "it is a RISC-V of 64 bits"),
        ("rv32be", "it is big-endian"),
    ],
)
def test_cores_that_are_refused_by_name(cpu: str, reason: str) -> None:
    board = load_board("qemu-virt-rv32")
    messages = Messages()
    check(replace(board, target=Target(cpu=cpu)), "mine.toml", messages)
    assert [message.code for message in messages.all] == ["E252"]
    assert f"no core family has a core {cpu!r}: {reason}" in messages.all[0].text


def _read(mnemonic: str, operands: str = "") -> Instruction:
    return disassembly.instruction(("80000000", mnemonic, operands))


def test_what_instructions_take_of_the_stack() -> None:
    """objdump writes `add` for `addi`; frames above 2 KiB take a register, which only the compiler knows."""
    assert disassembly.stack_bytes(_read("add", "sp,sp,-96")) == 96
    assert disassembly.stack_bytes(_read("addi", "sp,sp,96")) == 0
    assert disassembly.stack_bytes(_read("add", "sp,sp,t0")) is None
    assert disassembly.stack_bytes(_read("sw", "ra,12(sp)")) == 0


def test_where_instructions_go() -> None:
    near, far = _read("jal", "80000020 <f>"), _read("jalr", "-98(ra) # 80100000 <g>")
    assert [disassembly.target(each) for each in (near, far)] == [0x8000_0020, 0x8010_0000]
    assert disassembly.target(_read("bnez", "a0,80000010 <f+0x10>")) == 0x8000_0010
    assert disassembly.target(_read("lw", "a0,16(a1) # 80000010 <table>")) is None
    assert disassembly.is_indirect_call(_read("jalr", "a5")) and not disassembly.is_indirect_call(far)
    assert not disassembly.falls_through(_read("ret")) and disassembly.falls_through(_read("add", "a0,a0,1"))


def test_faults_in_words() -> None:
    report = FAMILY.decode_fault((8, 0x8000_0100, 0x8000_0200, 0, 0x80, 0x8100_0004, 0))
    assert report.text.startswith("store to memory that is closed") and report.address == 0x8100_0004
    assert report.registers == {"pc": 0x8000_0100, "ra": 0x8000_0200}
    assert FAMILY.decode_fault((8, 0, 0, 0, 0, 0, 1)).text.startswith("stack overflow: store")
    assert FAMILY.decode_fault((8, 0, 0, 0, 0, 0, 0)).address is None  # some cores tell none
    assert FAMILY.decode_fault((0x8000_000C, 0, 0, 0, 0, 0, 0)).text == "interrupt 11"


def test_cycles_are_those_that_are_published() -> None:
    """A load that is read at once, a product, a loop's branch."""
    loop = [
        _read("lbu", "a1,0(a0)"),
        _read("mul", "a2,a1,a3"),
        disassembly.instruction(("80000008", "bnez", "a4,80000000 <f>")),
    ]
    ran = [Executed(instruction=each, executions=10) for each in loop[:2]]
    ran.append(Executed(instruction=loop[2], executions=10, taken=9))
    assert cycles(ran, TIMINGS["hazard3"]) == 10 * (2 + 1 + 1) + 9
    assert cycles(ran, TIMINGS["e31"]) == 10 * (1 + 2 + 5 + 1)
