"""Values forced into two and three memories: copies between them, on the target, as planned."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import board as boards
from codegen import resources
from codegen.command.project_file import settings
from codegen.driver.build import Built, build, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.report.sections import MemoryCopy, copies_line, memory_copies
from codegen.driver.report.single import report
from codegen.driver.run import RunConditions, check_steps, complaints, execute
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.ir import VirtualDevice
from codegen.ir.rules import Place
from codegen.program.image import Trace
from codegen.program.interface import IoMode
from tests.e2e.models import build_model
from tests.e2e.test_pools import addresses, check

BOARD = "mps3-an547"
GROUP = 2

GROUP_MAX = """
#include "cg_user_kernel.h"

/* The largest of each two neighbours, by way of the workspace: as a driver that only reaches some memory. */
CG_USER_KERNEL(group_max)
{
    const int8_t *const in = arguments[0];
    int8_t *const between = workspace;
    int8_t *const out = result;
    for (int32_t i = 0; i < call->result.size_bytes; i++) {
        between[i] = (in[2 * i] > in[2 * i + 1]) ? in[2 * i] : in[2 * i + 1];
    }
    for (int32_t i = 0; i < call->result.size_bytes; i++) {
        out[i] = between[i];
    }
}
"""


def _place(scope: str | None, **what: Any) -> Place:
    return Place(who=f"place of {what}", device=VirtualDevice(memory_scope=scope), **what)


@pytest.mark.qemu
@pytest.mark.parametrize("optimize", ["balanced", "size"])
@pytest.mark.sampled(1)
def test_a_real_model_over_two_memories(optimize: Any, tmp_path: Path) -> None:
    """Large results in SRAM, what depthwise layers read in DTCM: a copy in front of each of the four."""
    key = "ds_cnn"
    places = (
        _place("sram", op="CONV_2D"),
        _place(None, op="DEPTHWISE_CONV_2D", reads="dtcm"),
        _place("sram", outputs=True),
    )
    built = build_model(key, Options(board=BOARD, optimize=optimize, places=places), tmp_path / "build")
    program = built.models[0].program
    copies = memory_copies(program)
    assert [(c.value, c.source, c.target, c.size_bytes) for c in copies] == [
        (name, "sram", "dtcm", 8000) for name in ("conv0", "conv2", "conv4", "conv6")
    ]
    where = {
        name: program.memory.plan.placements[part.buffer].pool for name, part in program.memory.slices.items()
    }
    assert {where[f"conv{step}"] for step in (0, 2, 4, 6, 8)} == {"sram"}
    assert where[program.signature.outputs[0].value] == "sram"
    check(built, key)
    document: Any = report(built.models[0], BOARD)
    assert document["device_copies"]["total_bytes"] == 32_000
    assert len(document["device_copies"]["steps"]) == 4
    assert (copies_line(program) or "").startswith(
        "copies    32,000 bytes an inference between memories: conv0"
    )


def _three_memories(folder: Path) -> Path:
    """The board, of whose memories (DTCM, SRAM, DDR, ...) DMA reaches all but the DTCM."""
    text = (resources.folder("boards") / f"{BOARD}.toml").read_text(encoding="utf-8")
    text = text.replace('name = "mps3-an547"', 'name = "three"', 1)
    text = text.replace(
        "size_bytes = 524_288\nwritable = true\n", "size_bytes = 524_288\nwritable = true\ndma = false\n"
    )
    assert text.count("dma = false") == 1
    board = folder / "three.toml"
    board.write_text(text, encoding="utf-8")
    return board


def _model() -> bytes:
    """RELU, a custom operator, RESHAPE, RELU: the custom one's argument is an output too."""
    model = ModelBuilder()
    x, a = (model.tensor(name, (1, 8, 8, 4), scale=0.5, zero_point=-3) for name in "xa")
    g, y = (model.tensor(name, (1, 8, 8, 2), scale=0.5, zero_point=-3) for name in "gy")
    model.op("RELU", [x], [a])
    model.op("CUSTOM", [a], [g], custom=Custom(code="Group Max"))
    model.op("RELU", [g], [y])
    model.inputs(x)
    model.outputs(y, a)
    return model.build()


def _case() -> Case:
    x = np.random.default_rng(5).integers(-128, 128, (1, 8, 8, 4)).astype(np.int8)
    a = np.maximum(x, -3)
    return Case(name="groups", inputs=(x,), expected=(a.reshape(1, 8, 8, 2, GROUP).max(axis=-1), a))


def _options(folder: Path, board: str, places: str, memory: str) -> tuple[Path, Options]:
    (folder / "group.c").write_text(GROUP_MAX)
    (folder / "codegen.toml").write_text(
        '[[kernel]]\nop = "Group Max"\nsymbol = "group_max"\nsource = "group.c"\nworkspace_bytes = 128\n'
        f"memory = {{{memory}}}\n{places}"
    )
    (folder / "groups.tflite").write_bytes(_model())
    found = settings(folder)
    return folder / "groups.tflite", Options(board=board, kernels=found.kernels, places=found.places)


def _checked(built: Built, io: IoMode = IoMode.POOL) -> None:
    measured = execute(
        built, [_case()], RunConditions(trace=Trace.RESULTS if io is IoMode.POOL else Trace.NONE)
    )
    assert complaints(built.models[0], [_case()], measured, built.image.sizes.stack_bound_bytes) == []


PLACES = '[[place]]\ntensor = "a"\nmemory = "dtcm"\n[[place]]\noutputs = true\nmemory = "dtcm"\n'
MEMORY = 'arguments = "dma", result = "ddr", workspace = "sram"'


@pytest.mark.qemu
@pytest.mark.parametrize("io", [IoMode.POOL, IoMode.CALLER])
def test_a_kernel_that_reaches_some_memories(io: IoMode, tmp_path: Path) -> None:
    """Three pools, a copy for the kernel; with the outputs the caller's, copies to what is placed too."""
    board = _three_memories(tmp_path)
    path, options = _options(tmp_path, str(board), PLACES, MEMORY)
    built = build([path], replace(options, io=io), tmp_path / "out", emulated=True)
    program = built.models[0].program
    copies = [replace(copy, step=0) for copy in memory_copies(program)]
    to_kernel = MemoryCopy(step=0, value="relu0", source="dtcm", target="sram", size_bytes=256)
    if io is IoMode.POOL:
        assert copies == [to_kernel]
    else:
        outputs = {(c.value, c.source, c.target) for c in copies} - {("relu0", "dtcm", "sram")}
        assert len(copies) == 3 and to_kernel in copies
        assert outputs == {("relu0", "dtcm", None), ("relu2", "dtcm", None)}
    regions = {pool.name: built.board.region(pool.region) for pool in program.memory.problem.pools}
    assert set(addresses(built)) == {"dtcm", "sram", "ddr"}
    for name, (address, size) in addresses(built).items():
        assert regions[name].address <= address and address + size <= regions[name].end
    [space] = program.memory.workspaces.values()
    assert program.memory.plan.placements[space.buffer].pool == "sram"
    assert program.memory.plan.placements[program.memory.slices["user1"].buffer].pool == "ddr"
    _checked(built, io)


@pytest.mark.qemu
def test_every_step_of_a_function_with_copies_is_validated(tmp_path: Path) -> None:
    places = (_place("sram", op="CONV_2D"), _place(None, op="DEPTHWISE_CONV_2D", reads="dtcm"))
    built = build_model("ds_cnn", Options(board=BOARD, places=places), tmp_path / "build")
    planned = built.models[0]
    rng = np.random.default_rng(0)
    [tensor] = planned.program.signature.inputs
    case = Case(name="made up", inputs=(rng.integers(-128, 128, tensor.type.shape).astype(np.int8),))
    checks = check_steps(planned, case, execute(built, [case], RunConditions(trace=Trace.RESULTS)))
    copies = [each for each in checks if "DEVICE_COPY" in each.where]
    assert len(copies) == 4
    assert all(each.comparison is not None and each.comparison.matches for each in copies)


def test_a_place_that_a_kernel_contradicts(tmp_path: Path) -> None:
    board = boards.load_board(str(_three_memories(tmp_path)))
    path, options = _options(tmp_path, BOARD, '[[place]]\nop = 1\nmemory = "dtcm"\n', 'result = "dma"')
    with pytest.raises(CodegenError) as caught:
        plan_model(path, board, options, emulated=True)
    [message] = caught.value.messages
    assert str(message) == (
        'error[E320] op 1 CUSTOM "g": no memory suits user1: user1 is given to dtcm by codegen.toml, '
        "line 7, place 1; kernel group_max of user1 wants its result in bram or ddr or sram\n"
        "help: change one of these; values that share bytes need one memory, uses may have their own"
    )


def test_another_core_and_an_accelerator(tmp_path: Path) -> None:
    """The board has one core; an accelerator is there once a kernel drives it."""
    board = boards.load_board(BOARD)
    place = '[[place]]\nop = "{}"\ntarget = "npu"\n'
    path, options = _options(tmp_path, BOARD, place.format("RELU"), 'result = "sram"')
    with pytest.raises(
        CodegenError, match=r"E322\] codegen.toml, line 7, place 1: relu0, relu2 are given to npu, but mps3"
    ):
        plan_model(path, board, options)
    path, options = _options(tmp_path, BOARD, place.format("Group Max"), 'result = "sram"')
    [kernel] = options.kernels
    options = replace(options, kernels=(replace(kernel, target="npu", device_id=0),))
    program = plan_model(path, board, options).program
    [device] = [var.device for var in program.steps.function.variables() if var.name == "user1"]
    assert device == VirtualDevice(target="npu", device_id=0, memory_scope="sram")
