"""Kernels of the user's, from codegen.toml to a board: planned, measured and overlapped like ours."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.board import run_poisoned
from codegen.cli import main
from codegen.command.project_file import settings
from codegen.driver.build import Built, Planned, build, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute, measure, request
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.ir import Let, Module
from codegen.ir.text import parse_module, print_module
from codegen.joint import together
from codegen.problem.problem import Placement
from codegen.program.image import RunResult
from codegen.program.program import BufferSlice, Program
from tests.checkout import ROOT
from tests.emit.variants import moved
from tests.engines import TFLITE_RUNTIME, available

BOARDS = ("host", pytest.param("mps2-an386", marks=pytest.mark.qemu))
DOCUMENT = ROOT / "docs" / "user_kernels.md"
GROUP = 2
TABLE = np.array([-90, -20, 0, 50], np.int8)

GROUP_MAX = """
#include <string.h>

#include "cg_user_kernel.h"

/* The largest of each group of neighbours (options[0] of them) and of a table, again and again. */
CG_USER_KERNEL(group_max)
{
    const int8_t *const in = arguments[0];
    const int8_t *const table = arguments[2];
    const cg_user_tensor *const given = call->arguments;
    int8_t *const out = result;
    const int32_t group = call->options[0];
    const int told = (call->argument_count == 3) && (call->options_bytes == 2) && (call->options[1] == 7)
                     && (arguments[1] == NULL) && (given[1].dtype == CG_USER_NONE)
                     && (given[0].dtype == CG_USER_INT8) && (given[0].rank == 4)
                     && (given[0].dims[1] == 8) && (given[0].dims[3] == 4) && (given[0].size_bytes == 256)
                     && (given[0].scale == 0.5f) && (given[0].zero_point == -3) && (given[0].scales == NULL)
                     && (given[2].rank == 1) && (given[2].scales[3] == 0.25f)
                     && (given[2].zero_points[0] == 0) && (given[2].channel_axis == 0)
                     && (call->result.dims[0] == 128) && (call->workspace_bytes == SPACE)
                     && ((uintptr_t)in % ALIGNED == 0) && ((uintptr_t)out % ALIGNED == 0)
                     && ((uintptr_t)table % ALIGNED == 0) && ((uintptr_t)workspace % 32 == 0);
    memset(workspace, 1, SPACE);
    for (int i = 0; i < call->result.size_bytes; i++) { /* i: a warning of ours, an error nowhere */
        int8_t most = table[i % 4];
        for (int32_t j = 0; j < group; j++) {
            const int8_t value = in[group * i + j];
            most = value > most ? value : most;
        }
        unsigned long unused = i;
        (void)unused;
        out[i] = told ? most : 0;
    }
}
"""


def _group_model() -> bytes:
    """RELU, then a custom operator with an input left out, a constant and options."""
    model = ModelBuilder()
    x = model.tensor("x", (1, 8, 8, 4), scale=0.5, zero_point=-3)
    a = model.tensor("a", (1, 8, 8, 4), scale=0.5, zero_point=-3)
    table = model.tensor("table", (4,), scale=[0.5, 0.5, 0.5, 0.25], axis=0, data=TABLE)
    y = model.tensor("y", (128,), scale=0.5, zero_point=-3)
    model.op("RELU", [x], [a])
    model.op("CUSTOM", [a, None, table], [y], custom=Custom(code="Group Max", options=bytes([GROUP, 7])))
    model.inputs(x)
    model.outputs(y)
    return model.build()


def _group_case() -> Case:
    x = np.random.default_rng(5).integers(-128, 128, (1, 8, 8, 4)).astype(np.int8)
    # The second group's reads are the only ones that a result two bytes behind the argument overtakes.
    x[0, 0, 0] = (127, -128, -128, -128)
    groups = np.maximum(x, -3).reshape(-1, GROUP).max(axis=1)
    return Case(name="groups", inputs=(x,), expected=(np.maximum(groups, np.tile(TABLE, 32)),))


def _options(folder: Path, board: str, more: str = "", *, aligned: int = 1) -> tuple[Path, Options]:
    (folder / "code").mkdir()
    source = GROUP_MAX.replace("SPACE", "64").replace("ALIGNED", str(aligned))
    (folder / "code" / "group.c").write_text(source)
    (folder / "codegen.toml").write_text(
        '[[kernel]]\nop = "Group Max"\nsymbol = "group_max"\nsource = "code/group.c"\n'
        f"workspace_bytes = 64\nworkspace_alignment = 32\n{more}"
    )
    (folder / "groups.tflite").write_bytes(_group_model())
    options = Options(board=board, kernels=settings(folder).kernels)
    return folder / "groups.tflite", options


def _checked(built: Built, case: Case, *, sandboxed: bool = False) -> None:
    measured = execute(built, [case], RunConditions(sandboxed=sandboxed))
    assert complaints(built.models[0], [case], measured, built.image.sizes.stack_bound_bytes) == []


def _peak(program: Program) -> int:
    [pool] = [name for name, peak in program.memory.peaks.items() if peak]
    return program.memory.peak_bytes(pool)


def _bytes(program: Program, value: str) -> tuple[int, int]:
    """First byte of a value in its pool, and the one behind it."""
    part: BufferSlice = program.memory.slices[value]
    start = program.memory.plan.placements[part.buffer].offset + part.offset_bytes
    return start, start + part.size_bytes


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(("rule", "peak"), [("", 448), ("below = -1\n", 320), ("above = 300\n", 448)])
@pytest.mark.sampled()
def test_a_custom_operator(board: str, rule: str, peak: int, tmp_path: Path) -> None:
    """256, 128 and 64 bytes of argument, result, workspace; a distance puts the result in the argument."""
    path, options = _options(tmp_path, board, rule)
    built = build([path], options, tmp_path / "out", emulated=True)
    program = built.models[0].program
    assert _peak(program) == peak
    (start, stop), (first, last) = _bytes(program, "user1"), _bytes(program, "relu0")
    assert (start < last and first < stop) == (rule == "below = -1\n")
    _checked(built, _group_case())
    assert "  user/group.c\n" in (tmp_path / "out" / "CMakeLists.txt").read_text()
    assert (tmp_path / "out" / "user" / "group.c").read_text() == (tmp_path / "code" / "group.c").read_text()
    assert program.metadata["options"].endswith(" Group Max=group_max")


@pytest.mark.parametrize("board", BOARDS)
def test_alignment(board: str, tmp_path: Path) -> None:
    path, options = _options(tmp_path, board, "argument_alignment = 32\n", aligned=32)
    _checked(build([path], options, tmp_path / "out", emulated=True), _group_case())


@pytest.mark.qemu
def test_sandbox(tmp_path: Path) -> None:
    path, options = _options(tmp_path, "mps2-an505", "below = -1\n")
    built = build([path], replace(options, sandbox=True), tmp_path / "out", emulated=True)
    _checked(built, _group_case(), sandboxed=True)


def _poisoned(program: Program, folder: Path) -> RunResult | object:
    board, sources = boards.load_board("host"), emit.render(together([program]))
    emit.write(sources, folder)
    image = toolchain.build(sources, folder, board, sanitize=True)
    return run_poisoned(image, board, request(program, [_group_case()]))


def test_poison(tmp_path: Path) -> None:
    """Every step may touch its own buffers only; a kernel that uses more than it declares is caught."""
    path, options = _options(tmp_path, "host", "below = -1\n")
    program = plan_model(path, boards.load_board("host"), options).program
    found = _poisoned(program, tmp_path / "right")
    assert isinstance(found, RunResult), found
    assert found.cases[0].outputs == tuple(array.tobytes() for array in _group_case().known_outputs or ())
    [kernel] = options.kernels
    greedy = replace(kernel, text=kernel.text.replace("memset(workspace, 1, 64)", "memset(workspace, 1, 65)"))
    program = plan_model(path, boards.load_board("host"), replace(options, kernels=(greedy,))).program
    assert not isinstance(_poisoned(program, tmp_path / "wrong"), RunResult)


@pytest.mark.parametrize(("distance", "equal"), [(1, True), (2, False)])
def test_the_plan_uses_the_distance_as_declared(distance: int, equal: bool, tmp_path: Path) -> None:
    """`below = -1` is what this kernel bears: one byte behind the argument's start is right, two are not."""
    path, options = _options(tmp_path, "host", "below = -1\n")
    planned = plan_model(path, boards.load_board("host"), options)
    program, case = planned.program, _group_case()
    [rule] = program.steps.prim_funcs[1].sharing
    assert (rule.argument, rule.below, rule.above) == (0, -1, None)
    given, image, result = (program.memory.slices[name].buffer for name in ("x", "relu0", "user1"))
    space = program.memory.workspaces["user1", "workspace"].buffer
    pool = program.memory.plan.placements[image].pool
    offsets = {given: 64, image: 64, result: 64 + distance, space: 0}
    places = {id_: Placement(pool=pool, offset=offset) for id_, offset in offsets.items()}
    program = moved(program, places)
    board, sources = boards.load_board("host"), emit.render(together([program]))
    emit.write(sources, tmp_path / "out")
    moved_model: Planned = replace(planned, program=program)
    with boards.session(toolchain.build(sources, tmp_path / "out", board), board) as target:
        ran = target.run(request(program, [case]))
    [[comparison]] = measure(moved_model, [case], ran).comparisons
    assert comparison.matches == equal


# ---- the documented example, by the command line ---------------------------------------------------


def _documented(folder: Path) -> None:
    """The example's files, and a model that wants them."""
    blocks = re.findall(r"^```(?:toml|c)\n(.*?)^```", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    (folder / "kernels").mkdir()
    (folder / "codegen.toml").write_text(blocks[0])
    (folder / "kernels" / "xor.c").write_text(blocks[1])
    model = ModelBuilder()
    x, y, z = (model.tensor(name, (1, 40), scale=0.5, zero_point=4) for name in "xyz")
    model.op("BITWISE_XOR", [x, y], [z])
    model.inputs(x, y)
    model.outputs(z)
    (folder / "model.tflite").write_bytes(model.build())
    a, b = np.random.default_rng(0).integers(-128, 128, (2, 1, 40)).astype(np.int8)
    np.savez(folder / "x.npz", x0=a, x1=b)
    np.savez(folder / "y.npz", y0=np.bitwise_xor(a, b))
    np.savez(folder / "wrong.npz", y0=np.bitwise_or(a, b))


def _call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _documented(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("board", ["host", pytest.param("stm32", marks=pytest.mark.qemu)])
def test_the_documented_example(board: str, example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ("run", "model.tflite", "--board", board, "--input", "x.npz")
    assert _call(*run, "--expect", "y.npz") == 0
    assert "1 of 1 cases equal to the expected outputs" in capsys.readouterr().out
    assert _call(*run, "--expect", "wrong.npz") == 7


@pytest.mark.parametrize("words", [("run",), ("run", "--input", "x.npz"), ("validate",)])
def test_nothing_is_compared_without_a_reference(
    words: tuple[str, ...], example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(words[0], "model.tflite", "--board", "host", "--reference", "numpy", *words[1:]) == 2
    assert capsys.readouterr().err == (
        'error[E226] op 0 BITWISE_XOR "z": only the kernel xor_s8 of codegen.toml computes this operator: '
        "there is no reference to compare with\n"
        "help: compare with outputs from elsewhere: codegen run MODEL --input X.npz --expect Y.npz\n"
    )


@pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="tflite-runtime is not installed")
def test_an_engine_knows_operators_that_codegen_lacks(
    example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--reference", "auto", "--input", "x.npz")
    assert _call("run", "model.tflite", "--board", "host", *words) == 0
    assert "1 of 1 cases equal to tflite-runtime " in capsys.readouterr().out


def test_a_source_that_does_not_compile(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example / "kernels" / "xor.c").write_text("int xor_s8(void) { return }\n")
    assert _call("build", "model.tflite", "--board", "host") == 5
    error = capsys.readouterr().err
    assert "error[E502] user/xor.c:1: does not compile: expected expression before" in error
    assert "help: correct the file that codegen.toml names for this kernel (docs/user_kernels.md)" in error
    assert not (example / "out" / "model").exists()


ASSEMBLY = """
    .syntax unified
    .thumb
    .section .text.xor_s8, "ax", %progbits
    .global xor_s8
    .type xor_s8, %function
xor_s8:
    push    {r4, r5}
    ldr     r0, [r1]
    ldr     r1, [r1, #4]
    movs    r3, #40
1:
    ldrsb   r4, [r0], #1
    ldrsb   r5, [r1], #1
    eors    r4, r5
    strb    r4, [r2], #1
    subs    r3, #1
    bne     1b
    pop     {r4, r5}
    bx      lr
    .size xor_s8, . - xor_s8
"""


@pytest.mark.qemu
def test_assembly(example: Path) -> None:
    (example / "kernels" / "xor.S").write_text(ASSEMBLY)
    declared = (example / "codegen.toml").read_text()
    (example / "codegen.toml").write_text(declared.replace("xor.c", "xor.S"))
    run = ("run", "model.tflite", "--board", "mps2-an386", "--input", "x.npz", "--expect", "y.npz", "-o", "o")
    assert _call(*run) == 0
    cmake = (example / "o" / "CMakeLists.txt").read_text()
    assert "  user/xor.S\n" in cmake and re.search(r"^project\(\w+ C ASM\)$", cmake, re.MULTILINE)


def test_a_source_without_its_symbol(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = example / "kernels" / "xor.c"
    source.write_text(source.read_text().replace("xor_s8", "another"))
    assert _call("build", "model.tflite", "--board", "mps2-an386") == 5
    error = capsys.readouterr().err
    assert "error[E503] does not link: `xor_s8` is used and nowhere defined" in error
    assert "and its source has to define its symbol" in error


def test_recursion_has_no_bound(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = example / "kernels" / "xor.c"
    deep = "__attribute__((noinline)) static int deep(int n)\n{\n    return n ? n ^ deep(n - 1) : 3;\n}\n"
    text = source.read_text().replace("CG_USER_KERNEL(", f"{deep}CG_USER_KERNEL(")
    source.write_text(
        text.replace("(void)workspace;", "(void)workspace;\n    out[0] = (int8_t)deep(first[0] & 3);")
    )
    assert _call("build", "model.tflite", "--board", "mps2-an386", "--optimize", "size") == 5
    error = capsys.readouterr().err
    assert "error[E504] function deep" in error and "a kernel of codegen.toml must have none of it" in error


def test_an_argument_given_twice_is_not_overlapped(tmp_path: Path) -> None:
    """The distance is one from argument 0, which here is argument 1 too: nothing is said about that one."""
    _documented(tmp_path)
    model = ModelBuilder()
    x, y, z = (model.tensor(name, (1, 40), scale=0.5, zero_point=4) for name in "xyz")
    model.op("RELU", [x], [y])
    model.op("BITWISE_XOR", [y, y], [z])
    model.inputs(x)
    model.outputs(z)
    (tmp_path / "model.tflite").write_bytes(model.build())
    kernels = settings(tmp_path).kernels
    program = plan_model(
        tmp_path / "model.tflite", boards.load_board("host"), Options(kernels=kernels)
    ).program
    assert _peak(program) == 80


def test_the_model_as_text(example: Path) -> None:
    """What is declared is part of the module: it reads back whole."""
    assert _call("build", "model.tflite", "--board", "host", "--dump-ir", "ir") == 0
    text = (example / "ir" / "00_import.ir").read_text()
    module: Module = parse_module(text)
    assert print_module(module) == text
    [let] = module.main.body
    assert isinstance(let, Let) and settings(example).kernels[0] == getattr(let.call.attrs, "kernel", None)


def test_a_custom_name_stays_in_its_comment_and_two_models_share_a_source(tmp_path: Path) -> None:
    _documented(tmp_path)
    declared = (tmp_path / "codegen.toml").read_text()
    (tmp_path / "codegen.toml").write_text(declared.replace("BITWISE_XOR", "a*/b\\\\"))
    paths: list[Path] = []
    for name in ("one", "two"):
        model = ModelBuilder()
        x, y, z = (model.tensor(each, (1, 40), scale=0.5, zero_point=4) for each in "xyz")
        model.op("CUSTOM", [x, y], [z], custom=Custom(code="a*/b\\"))
        model.inputs(x, y)
        model.outputs(z)
        paths.append(tmp_path / f"{name}.tflite")
        paths[-1].write_bytes(model.build())
    options = Options(board="host", kernels=settings(tmp_path).kernels)
    built = build(paths, options, tmp_path / "out", emulated=True)
    a, b = np.random.default_rng(1).integers(-128, 128, (2, 1, 40)).astype(np.int8)
    case = Case(name="two", inputs=(a, b), expected=(np.bitwise_xor(a, b),))
    for index, planned in enumerate(built.models):
        assert complaints(planned, [case], execute(built, [case], model=index), None) == []
    assert "a* /b/" in (tmp_path / "out" / "two.c").read_text()
    listed = (tmp_path / "out" / "CMakeLists.txt").read_text()
    libraries = listed[listed.index("add_library(") :]
    assert libraries.count("user/xor.c") == 1
