"""The static stack bound against frames counted by hand, gcc's own figures, and code that has no bound."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from codegen.errors import CodegenError
from codegen.targets.arm import FAMILY
from codegen.toolchain import callgraph, elf, gcc, stack_bound
from tests.toolchain import fake_model

CORES = {
    "m0": ("-mcpu=cortex-m0", "-mthumb"),
    "m3": ("-mcpu=cortex-m3", "-mthumb"),
    "m4": fake_model.M4_FLAGS,
    "m55": ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"),
}
NESTED = """
#include <stdint.h>
#include <string.h>
#define APART __attribute__((noinline))
void sink(volatile uint8_t *p);
APART void sink(volatile uint8_t *p) { p[0] = 1; }
static APART int inner(int x) { volatile uint8_t room[200]; sink(room); return room[0] + x; }
static APART int shallow(int x) { volatile uint8_t room[400]; sink(room); return room[3] + x; }
static APART int middle(int x) { volatile uint8_t room[300]; sink(room); return inner(x) + room[2]; }
int entry(int x);
int entry(int x) { return middle(x) + shallow(x) + 1; }
"""


ASSEMBLY = """
    .syntax unified
    .thumb
    .text
    .global entry
    .type entry, %function
entry:"""


def linked(
    folder: Path, text: str, core: str, suffix: str = "c"
) -> tuple[dict[int, callgraph.ImageFunction], elf.Elf]:
    """Functions and symbols of one file linked alone; its `.su` files stay in `folder`."""
    (folder / f"code.{suffix}").write_text(text)
    compiler = gcc.Compiler(prefix="arm-none-eabi-", options=(*CORES[core], "-O2", "-fstack-usage"))
    place = gcc.CompilePlace(folder=folder, objects=folder)
    compiler.compile([gcc.CompileUnit(source=f"code.{suffix}", object=folder / "code.o", options=())], place)
    compiler.link(["-nostdlib", "-Wl,-e,entry", "code.o", "-lc", "-lgcc", "-o", "code.elf"], place)
    read = elf.read(folder / "code.elf")
    return callgraph.read(folder / "code.elf", read, FAMILY), read


def bound(folder: Path, text: str, core: str = "m4", suffix: str = "c") -> stack_bound.StackBound:
    functions, read = linked(folder, text, core, suffix)
    compiled = stack_bound.frames(path.read_text() for path in folder.glob("*.su"))
    return stack_bound.bound("entry", functions, compiled, read)


@pytest.mark.parametrize("core", CORES)
def test_nested_calls_sum_the_frames_gcc_reports(tmp_path: Path, core: str) -> None:
    found = bound(tmp_path, NESTED, core)
    reported = {
        line.split("\t")[0].rsplit(":", 1)[1]: int(line.split("\t")[1])
        for line in (tmp_path / "code.su").read_text().splitlines()
    }
    assert [name for name, _ in found.path] == ["entry", "middle", "inner", "sink"]
    assert found.size_bytes == sum(reported[name] for name in ("entry", "middle", "inner", "sink"))
    assert found.size_bytes > 500  # the arrays alone; shallow's 400 bytes are gone when middle runs


@pytest.mark.parametrize("core", CORES)
def test_frames_from_disassembly_equal_the_compilers(tmp_path: Path, core: str) -> None:
    functions, _ = linked(tmp_path, NESTED, core)
    compiled = stack_bound.frames([(tmp_path / "code.su").read_text()])
    for code in functions.values():
        if code.name in compiled:
            assert code.pushed_bytes == compiled[code.name].size_bytes, code.name


def test_assembly_frames_counted_by_hand(tmp_path: Path) -> None:
    """push of five (20), sub 24, vpush of four doubles (32), str with write-back (8): 84; leaf: 8."""
    text = (
        ASSEMBLY
        + """
    push {r4-r7, lr}
    sub sp, #24
    vpush {d8-d11}
    str r0, [sp, #-8]!
    bl leaf
    ldr r0, [sp], #8
    vpop {d8-d11}
    add sp, #24
    pop {r4-r7, pc}
    .type leaf, %function
leaf:
    stmdb sp!, {r4, r5}
    ldmia sp!, {r4, r5}
    bx lr
"""
    )
    assert bound(tmp_path, text, suffix="S").path == (("entry", 84), ("leaf", 8))


def test_registers_kept_at_the_stack_pointer_take_nothing(tmp_path: Path) -> None:
    text = (
        ASSEMBLY
        + """
    push {r4, r5, r6, lr}
    sub sp, #16
1:  ldm sp, {r1, r3, r5}
    stm sp, {r1, r3, r5}
    subs r0, #1
    bne 1b
    add sp, #16
    pop {r4, r5, r6, pc}
"""
    )
    assert bound(tmp_path, text, suffix="S").path == (("entry", 32),)


def test_a_far_jump_at_the_end_runs_on_into_nothing(tmp_path: Path) -> None:
    """GCC jumps by `bl` within long functions of ARMv6-M. One that ended so seemed to run on into the next:
    resnet at speed was refused on microbit for a call through a pointer that lay there."""
    text = (
        ASSEMBLY
        + """
    push {r4, lr}
1:  cmp r0, #0
    bne 2f
    pop {r4, pc}
2:  subs r0, #1
    bl 1b
    .size entry, . - entry
    .global behind
    .type behind, %function
behind:
    push {r4-r7, lr}
    blx r0
    pop {r4-r7, pc}
    .size behind, . - behind
"""
    )
    assert bound(tmp_path, text, "m0", "S").path == (("entry", 8),)


def test_assembly_can_declare_what_its_instructions_hide(tmp_path: Path) -> None:
    text = (
        ASSEMBLY
        + """
    mov r3, #40
    sub sp, sp, r3
    add sp, #40
    bx lr
"""
    )
    with pytest.raises(CodegenError) as raised:
        bound(tmp_path, text, suffix="S")
    assert "error[E505] function entry: entry: a frame whose size its instructions do not tell" in str(
        raised.value
    )
    assert "declare the frame with .set cg_frame_entry, BYTES" in str(raised.value)
    declared = f"    .global cg_frame_entry\n    .set cg_frame_entry, 40\n{text}"
    assert bound(tmp_path, declared, suffix="S").path == (("entry", 40),)


@pytest.mark.usefixtures("uncached")
@pytest.mark.parametrize(("core", "hidden"), [("m0", {"__gnu_thumb1_case_uqi"}), ("m4", set[str]())])
def test_calls_are_those_of_the_compilers_graph(tmp_path: Path, core: str, hidden: set[str]) -> None:
    """Two sources of calls. gcc's own has not the helper that Thumb-1's switches call (decision 105)."""
    text = """
int small(int x);
__attribute__((noinline)) int small(int x) { return x * 9; }
static __attribute__((noinline)) int inner(int x) { return small(x + 1) ^ small(x); }
int entry(int x, int y);
int entry(int x, int y)
{
    switch (x) {
    case 0: return inner(y);
    case 1: return small(y) + 7;
    case 2: return inner(4) - y;
    case 3: return small(y + 2) - 1;
    case 4: return inner(y) * 3;
    case 5: return small(6);
    default: return 0;
    }
}
"""
    (tmp_path / "code.c").write_text(text)
    words = ["arm-none-eabi-gcc", *CORES[core], "-Os", "-ffunction-sections", "-fcallgraph-info=su"]
    subprocess.run([*words, "-c", "code.c", "-o", "code.o"], cwd=tmp_path, check=True)
    subprocess.run(
        [*words, "-nostdlib", "-Wl,-e,entry", "code.o", "-lc", "-lgcc", "-o", "code.elf"],
        cwd=tmp_path,
        check=True,
    )
    functions = callgraph.read(tmp_path / "code.elf", elf.read(tmp_path / "code.elf"), FAMILY)
    edges = re.findall(
        r'sourcename: "(?:\S+:)?(\w+)" targetname: "(?:\S+:)?(\w+)"', (tmp_path / "code.ci").read_text()
    )
    names = ("entry", "inner", "small")
    calls = {
        (code.name, functions[address].name)
        for code in functions.values()
        for address in code.calls
        if code.name in names
    }
    assert set(edges) <= calls and len(edges) >= 4
    assert {callee for _, callee in calls - set(edges)} == hidden


@pytest.mark.parametrize("core", CORES)
def test_library_functions_are_followed(tmp_path: Path, core: str) -> None:
    """64-bit division calls libgcc, memset the C library: neither has a .su file, both push registers."""
    text = """
#include <stdint.h>
#include <string.h>
int64_t entry(int64_t a, int64_t b, char *p, unsigned n);
int64_t entry(int64_t a, int64_t b, char *p, unsigned n) { memset(p, 0, n); return a / b; }
"""
    functions, read = linked(tmp_path, text, core)
    compiled = stack_bound.frames([(tmp_path / "code.su").read_text()])
    found = stack_bound.bound("entry", functions, compiled, read)
    assert "__aeabi_ldivmod" in {name for name, _ in found.path}
    assert found.size_bytes >= compiled["entry"].size_bytes + 16
    memset = next(code for code in functions.values() if code.name == "memset")
    assert memset.pushed_bytes in (12, 16, 20)  # `push {r4, r5, lr}` and its like


def test_recursion_is_named_with_its_way(tmp_path: Path) -> None:
    text = """
int entry(int x);
static __attribute__((noinline)) int other(int x);
static __attribute__((noinline)) int one(int x) { return x < 2 ? 1 : other(x - 1) * 3 + x; }
static __attribute__((noinline)) int other(int x) { return one(x - 1) * one(x - 2); }
int entry(int x) { return one(x) + 1; }
"""
    with pytest.raises(CodegenError) as raised:
        bound(tmp_path, text)
    assert re.search(
        r"error\[E504\] function one: entry -> one -> other -> one: recursion, so there is no",
        str(raised.value),
    )


def test_indirect_calls_and_variable_frames_are_reported_together(tmp_path: Path) -> None:
    text = """
int (*hook)(int);
void sink(volatile char *p);
__attribute__((noinline)) void sink(volatile char *p) { p[0] = 1; }
static __attribute__((noinline)) int through(int x) { return hook(x) + 1; }
static __attribute__((noinline)) int grows(int n)
{
    volatile char *room = __builtin_alloca(n);
    sink(room);
    return room[0];
}
int entry(int x);
int entry(int x) { return through(x) + grows(x); }
"""
    with pytest.raises(CodegenError) as raised:
        bound(tmp_path, text)
    text = str(raised.value)
    assert "error[E505] function through: entry -> through: a call through a pointer" in text
    assert "error[E505] function grows: entry -> grows: a frame of variable size" in text


def test_calls_through_a_pointer_that_can_lead_to_known_functions(tmp_path: Path) -> None:
    """As the second core calls steps: the largest of them counts, and nothing else of the kind passes."""
    text = NESTED.replace("int entry(int x);", "int large(int x); int small(int x); int entry(int x);", 1)
    text = text.replace(
        "int entry(int x) {",
        """
__attribute__((used, noinline)) int large(int x) { volatile uint8_t room[500]; sink(room); return room[x]; }
__attribute__((used, noinline)) int small(int x) { volatile uint8_t room[50]; sink(room); return room[x]; }
int (*volatile hook)(int);
int entry(int x) { x += hook(x); """,
    )
    functions, read = linked(tmp_path, text, "m4")
    compiled = stack_bound.frames(path.read_text() for path in tmp_path.glob("*.su"))
    pointed = {"entry": ("large", "small")}
    found = stack_bound.bound("entry", functions, compiled, read, pointed=pointed)
    assert [name for name, _ in found.path][:2] == ["entry", "middle"], "larger than both"
    alone = text.replace("return middle(x) + shallow(x) + 1;", "return x;")
    functions, read = linked(tmp_path, alone, "m4")
    compiled = stack_bound.frames(path.read_text() for path in tmp_path.glob("*.su"))
    found = stack_bound.bound("entry", functions, compiled, read, pointed=pointed)
    assert [name for name, _ in found.path][:2] == ["entry", "large"]
    with pytest.raises(CodegenError, match=r"E505.*a call through a pointer"):
        stack_bound.bound("entry", functions, compiled, read, pointed={"large": ("small",)})


def test_hooks_called_in_the_tree_count(tmp_path: Path) -> None:
    """The board's step hooks are functions like any other for the bound."""
    text = NESTED.replace("return middle(x)", "cg_step_begin(0); return middle(x)").replace(
        "int entry(int x);",
        "void cg_step_begin(int s);\n"
        "APART void cg_step_begin(int s) { volatile uint8_t room[4000]; room[s] = 1; }\n"
        "int entry(int x);",
    )
    assert [name for name, _ in bound(tmp_path, text).path] == ["entry", "cg_step_begin"]


def test_an_entry_that_is_not_there_is_a_bug(tmp_path: Path) -> None:
    functions, read = linked(tmp_path, NESTED, "m4")
    with pytest.raises(ValueError, match="no function missing"):
        stack_bound.bound("missing", functions, {}, read)


def test_symbols_are_those_that_another_reader_finds(tmp_path: Path) -> None:
    """They are taken from the table's bytes at once; pyelftools goes one by one."""
    _, read = linked(tmp_path, NESTED, "m4")
    with (tmp_path / "code.elf").open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        entries: list[Any] = [
            each
            for each in table.iter_symbols()
            if each.name
            and each["st_shndx"] != "SHN_UNDEF"
            and each["st_info"]["type"] not in ("STT_FILE", "STT_SECTION")
        ]
    assert [(each.name, each.kind, each.size_bytes) for each in read.symbols] == [
        (each.name, each["st_info"]["type"], each["st_size"]) for each in entries
    ]
    assert [(each.address, each.section is None) for each in read.symbols] == [
        (
            each["st_value"] - (each["st_info"]["type"] == "STT_FUNC"),  # Thumb functions are marked by a 1
            each["st_shndx"] == "SHN_ABS",
        )
        for each in entries
    ]


def test_model_code_is_the_closure_of_calls(tmp_path: Path) -> None:
    functions, _ = linked(
        tmp_path,
        NESTED.replace("int entry(int x);", "int entry(int x);\nint lone(int x) { return x; }\n"),
        "m4",
    )
    by_name = {code.name: code.size_bytes for code in functions.values()}
    below_middle = sum(by_name[name] for name in ("middle", "inner", "sink"))
    assert callgraph.code_bytes(functions, ["middle"]) == below_middle
    assert callgraph.code_bytes(functions, ["middle"], without=["sink"]) == below_middle - by_name["sink"]
    assert callgraph.code_bytes(functions, ["entry"]) == sum(by_name.values()) - by_name["lone"]
    with pytest.raises(ValueError, match="no function"):
        callgraph.code_bytes(functions, ["missing"])
