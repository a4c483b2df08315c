"""DEVICE_COPY: an operator with a type rule and a text form, a C function that applications may take over."""

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.ir import ConstRef, DType, Module, TensorType, Var, VirtualDevice
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import DEVICE_COPY, OPS, USER, Attrs, UserAttrs, UserKernel
from codegen.ir.text import parse_module, print_module
from codegen.ir.verify import problems
from codegen.kernels import kernels_for
from codegen.kernels.contract import MemoryDemand
from codegen.passes import FoldConstants, run_passes
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from codegen.toolchain import gcc
from tests.kernels.calling import RUNTIME, WARNINGS
from tests.tensor_types import per_tensor, tensor_type

TYPE = tensor_type((1, 3, 2), DType.INT16, scale=0.5)


def _module(result: TensorType = TYPE) -> Module:
    builder = Builder()
    x = builder.param("x", TYPE, device=VirtualDevice(memory_scope="sram"))
    there = VirtualDevice(memory_scope="dtcm")
    return builder.build([builder.call(DEVICE_COPY, [x], Attrs(), Var(name="y", type=result, device=there))])


def test_it_reads_back_verifies_and_evaluates() -> None:
    module = _module()
    assert parse_module(print_module(module)) == module
    assert '%y: int16[1,3,2] q(0.5; 0) @(none, none, "dtcm") = DEVICE_COPY(%x)' in print_module(module)
    assert problems(module) == []
    data = np.arange(6, dtype=np.int16).reshape(TYPE.shape)
    [found] = evaluate(module, module.main, [data])
    assert np.array_equal(found, data) and found is not data
    assert DEVICE_COPY.name not in OPS, "no file has it"


@pytest.mark.parametrize(
    "other",
    [
        replace(TYPE, dtype=DType.INT8),
        replace(TYPE, shape=(6,)),
        replace(TYPE, quantization=per_tensor(0.25)),
    ],
)
def test_a_copy_changes_nothing_about_its_value(other: TensorType) -> None:
    [problem] = problems(_module(other))
    assert "main step 0" in problem


def test_a_copy_of_a_constant_is_folded_where_it_was_to_be() -> None:
    builder = Builder()
    builder.param("x", TYPE)
    constant = builder.constant(np.ones(TYPE.shape, np.int16), quantization=TYPE.quantization)
    device = VirtualDevice(memory_scope="dtcm")
    copied = builder.call(DEVICE_COPY, [constant], Attrs(), Var(name="y", type=TYPE, device=device))
    module = builder.build([copied])
    [kernel] = kernels_for(DEVICE_COPY.name)
    refusal = kernel.refusal(module.main.body[0], load_board("host").target)
    assert refusal is not None and "constant" in refusal
    folded = run_passes(module, (FoldConstants(),))
    [result] = folded.main.results
    assert isinstance(result, ConstRef) and folded.constants[result.id].memory_scope == "dtcm"


MAIN = """
#include <string.h>
#include "cg_device_copy.h"
static int calls;
void cg_device_copy_hook(void *to, const void *from, size_t bytes);
void cg_device_copy_hook(void *to, const void *from, size_t bytes)
{
    calls++;
    memcpy(to, from, bytes);
}
int main(void)
{
    const char from[9] = "memories";
    char to[11] = "..........";
    cg_device_copy(from, &to[1], 8);
    return (memcmp(to, ".memories.", 10) == 0 && calls == HOOKED) ? 0 : 1;
}
"""


@pytest.mark.parametrize("hooked", [0, 1])
def test_the_hook_takes_over_and_is_free_without(hooked: int, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(MAIN)
    flags = [f"-DHOOKED={hooked}", *(["-DCG_DEVICE_COPY_HOOK"] if hooked else [])]
    source = RUNTIME / "kernels" / "portable" / "device_copy.c"
    command = [gcc.tool("gcc"), "-std=c11", *WARNINGS, f"-I{RUNTIME / 'include'}", *flags]
    subprocess.run([*command, str(source), "main.c", "-o", "main"], cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "main")], check=True)
    subprocess.run([*command, "-c", str(source), "-o", "copy.o"], cwd=tmp_path, check=True)
    names = subprocess.run(["nm", "copy.o"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert ("cg_device_copy_hook" in names.stdout) == bool(hooked)


APART = """
#include "cg_device_copy.h"
void copy_{name}(const void *from, void *to);
void copy_{name}(const void *from, void *to)
{{
    cg_device_copy(from, to, 8);
}}
"""
BOTH = """
#include <stddef.h>
#include <string.h>
void copy_plain(const void *from, void *to);
void copy_hooked(const void *from, void *to);
static int calls;
void cg_device_copy_hook(void *to, const void *from, size_t bytes);
void cg_device_copy_hook(void *to, const void *from, size_t bytes)
{
    calls++;
    memcpy(to, from, bytes);
}
int main(void)
{
    char to[8];
    copy_plain("memories", to);
    const int before = calls;
    copy_hooked("memories", to);
    return (before == 0 && calls == 1) ? 0 : 1;
}
"""


@pytest.mark.parametrize("order", [("plain", "hooked"), ("hooked", "plain")])
def test_folders_with_and_without_the_hook_go_together(order: tuple[str, str], tmp_path: Path) -> None:
    """The first library's cg_device_copy was taken for both folders, with the hook or without it."""
    (tmp_path / "both.c").write_text(BOTH)
    command = [gcc.tool("gcc"), "-std=c11", *WARNINGS, f"-I{RUNTIME / 'include'}"]
    for name, flags in (("plain", []), ("hooked", ["-DCG_DEVICE_COPY_HOOK"])):
        (tmp_path / f"{name}.c").write_text(APART.format(name=name))
        sources = {
            "copy": RUNTIME / "kernels" / "portable" / "device_copy.c",
            "model": tmp_path / f"{name}.c",
        }
        for part, source in sources.items():
            words = [*command, *flags, "-c", str(source), "-o", f"{name}_{part}.o"]
            subprocess.run(words, cwd=tmp_path, check=True)
        objects = [f"{name}_{part}.o" for part in sources]
        subprocess.run(["ar", "rcs", f"lib{name}.a", *objects], cwd=tmp_path, check=True)
    libraries = [f"lib{name}.a" for name in order]
    subprocess.run([*command, "both.c", *libraries, "-o", "both"], cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "both")], check=True)


# ---- what declared kernels demand -------------------------------------------------------

DEMANDS = (("arguments", "dma"), ("argument1", "sram"), ("result", "ccm"), ("workspace", "ccm"))
KERNEL = UserKernel(
    op="Mine",
    symbol="mine",
    source="mine.c",
    text="",
    workspace_bytes=8,
    memory=DEMANDS,
    target="npu",
    device_id=1,
)


def _calling(kernel: UserKernel, count: int) -> Module:
    builder = Builder()
    x = builder.param("x", TYPE)
    constant = builder.constant(np.ones(TYPE.shape, np.int16), quantization=TYPE.quantization)
    args: list[Var | ConstRef] = [x, constant, x][:count]
    return builder.build([builder.call(USER, args, UserAttrs(kernel=kernel, shape=TYPE.shape), TYPE)])


def test_demands_of_a_declared_kernel() -> None:
    module = _calling(KERNEL, 3)
    assert parse_module(print_module(module)) == module
    data = {id_: constant.data for id_, constant in module.constants.items()}
    [prim] = select(module.main, Binder(data, load_board("host").target))
    assert prim.memory == (
        MemoryDemand(scopes=("dma",), argument=0),
        MemoryDemand(scopes=("dma",), argument=2),
        MemoryDemand(scopes=("sram",), argument=1),
        MemoryDemand(scopes=("ccm",)),
        MemoryDemand(scopes=("ccm",), workspace="workspace"),
    )
    assert prim.device == VirtualDevice(target="npu", device_id=1)
    [kernel] = kernels_for("USER")
    refusal = kernel.refusal(_calling(KERNEL, 1).main.body[0], load_board("host").target)
    assert refusal == "kernel mine wants a memory for argument 1, there are 1"


@pytest.mark.parametrize("memory", [(("x", "dma"),), (("result", ""),), (("workspace", "ccm"),)])
def test_a_kernel_demands_memory_for_what_it_has(memory: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(ValueError, match=r"kernel Mine: .* in memory"):
        replace(KERNEL, workspace_bytes=0, memory=memory)
