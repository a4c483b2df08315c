"""Steps on a second core, the AN521's Cortex-M33 or hart 1 of QEMU's RISC-V machine: really there, bit-exact,
measured, protected as on core 0."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen import resources
from codegen.command.project_file import settings
from codegen.driver.build import Built, build, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.driver.run import PLAIN_RUN, RunConditions, all_complaints, check_steps, execute, request
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.ir import VirtualDevice
from codegen.ir.rules import Place
from codegen.program.image import Trace
from codegen.program.interface import ConstantsMode, EntryMode, Interface, IoMode, PoolOwner
from codegen.program.program import second_core_steps
from tests.e2e.models import build_model, golden_cases

BOARD = "mps2-an521"
RISCV = "qemu-virt-rv32x2"
KWS = "ds_cnn"
CORE_1 = VirtualDevice(device_id=1)


def _on_core_1(*operators: str) -> tuple[Place, ...]:
    return tuple(Place(who=f"place of {op}", device=CORE_1, op=op) for op in operators)


def _built(options: Options, folder: Path, board: str = BOARD) -> Built:
    return build_model(KWS, replace(options, board=board), folder / "build")


def _names(built: Built) -> list[str]:
    program = built.models[0].program
    return [program.steps.prim_funcs[step].name for step in second_core_steps(program)]


def _checked(built: Built, cases: list[Case], conditions: RunConditions = PLAIN_RUN) -> None:
    measured = execute(built, cases, conditions)
    assert all_complaints(built, [cases], [measured]) == []
    used = [case.core1_stack_peak_bytes for case in measured.result.cases]
    bound = built.image.sizes.core1_stack_bound_bytes
    assert bound is not None
    if not conditions.sandboxed:
        assert all(peak is not None and 0.9 * bound <= peak <= bound for peak in used), (used, bound)


# ---- a real model -----------------------------------------------------------------------


@pytest.mark.qemu
@pytest.mark.parametrize("board", [BOARD, RISCV])
@pytest.mark.sampled(1)
def test_depthwise_layers_of_a_real_model_on_core_1(board: str, tmp_path: Path) -> None:
    """Outputs of an independent engine, peaks as planned, every step's result; the stack that core 1 used."""
    built = _built(Options(optimize="speed", places=_on_core_1("DEPTHWISE_CONV_2D")), tmp_path, board)
    assert _names(built) == ["dw1", "dw3", "dw5", "dw7"]
    _checked(built, list(golden_cases(KWS)[:3]))
    rng = np.random.default_rng(3)
    [tensor] = built.models[0].program.signature.inputs
    case = Case(name="made up", inputs=(rng.integers(-128, 128, tensor.type.shape).astype(np.int8),))
    checks = check_steps(built.models[0], case, execute(built, [case], RunConditions(trace=Trace.RESULTS)))
    assert all(each.comparison is None or each.comparison.matches for each in checks)
    document = report(built.models[0], board, built.image.sizes)
    steps = document["steps"]
    assert isinstance(steps, list)
    assert [each["core"] for each in steps][:4] == [0, 1, 0, 1]  # pyright: ignore[reportUnknownVariableType]


@pytest.mark.qemu
@pytest.mark.parametrize("optimize", ["balanced", "size"])
@pytest.mark.sampled(1)
@pytest.mark.thorough
def test_alternating_layers_with_blocks_and_kernels_in_place(optimize: str, tmp_path: Path) -> None:
    """A step on core 1 ends no block: what is in front of it was not placed there."""
    places = tuple(Place(who="a place", device=CORE_1, op=op) for op in (2, 3, 6, 11))
    built = _built(Options(optimize=optimize, places=places), tmp_path)  # type: ignore[arg-type]
    on_core_1 = [built.models[0].program.steps.prim_funcs[step] for step in (2, 3, 6, 11)]
    assert _names(built) == [prim.name for prim in on_core_1] and not any(prim.block for prim in on_core_1)
    _checked(built, list(golden_cases(KWS)[:1]))


@pytest.mark.qemu
@pytest.mark.parametrize(
    "interface",
    [
        Interface(entry=EntryMode.STEPS),
        pytest.param(
            Interface(pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL), marks=pytest.mark.thorough
        ),
        Interface(pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL, entry=EntryMode.STEPS),
    ],
    ids=["steps", "owned", "owned-steps"],
)
@pytest.mark.sampled(1)
def test_whatever_the_application_owns(interface: Interface, tmp_path: Path) -> None:
    """The first and the last call, so that core 1 reads inputs and writes outputs; both ways of I/O."""
    places = _on_core_1("CONV_2D", "SOFTMAX")
    for io in IoMode:
        built = _built(Options(places=places, interface=interface, io=io, stage="off"), tmp_path / io.value)
        assert {"conv0", "softmax12"} <= set(_names(built))
        _checked(built, list(golden_cases(KWS)[:1]))


@pytest.mark.qemu
@pytest.mark.parametrize("board", [BOARD, RISCV])
def test_the_sandbox_holds_on_core_1(board: str, tmp_path: Path) -> None:
    options = Options(sandbox=True, places=_on_core_1("DEPTHWISE_CONV_2D", "SOFTMAX"))
    built = _built(options, tmp_path, board)
    _checked(built, list(golden_cases(KWS)[:1]), RunConditions(sandboxed=True))


def test_nothing_is_left_of_core_1_where_no_step_is_there(tmp_path: Path) -> None:
    """The same product as ever, and firmware that does not start it."""
    built = _built(Options(optimize="speed"), tmp_path)
    assert built.image.sizes.core1_stack_bound_bytes is None
    link = {"cg_measure_core1_stack", "protect_core1"}
    assert {name for name in built.image.symbols if "core1" in name} <= link
    files = [path.name for path in built.folder.rglob("*") if "core1" in path.name]
    assert files == []
    assert "core1" not in (built.folder / "ds_cnn.c").read_text(encoding="utf-8")


# ---- which core it is -------------------------------------------------------------------

KERNEL = """
#include "cg_user_kernel.h"

#define CPU_IDENTITY 0x4001F000u /* SSE-200: 0 or 1, the core that reads it */

/* Adds the number of the core. */
CG_USER_KERNEL(add_core)
{
    const int8_t *const in = arguments[0];
    int8_t *const out = result;
    const int8_t core = (int8_t)*(const volatile uint32_t *)CPU_IDENTITY;
    (void)workspace;
    for (int32_t i = 0; i < call->result.size_bytes; i++) {
        out[i] = (int8_t)(in[i] + core);
    }
}
"""

STRAY = """
#include "cg_user_kernel.h"

/* Writes where it should not. */
CG_USER_KERNEL(add_core)
{
    (void)workspace;
    (void)arguments;
    (void)call;
    *(volatile int8_t *)result = 0;
    *(volatile int8_t *)(WHERE) = 0;
}
"""

DEEP = """
#include "cg_user_kernel.h"

/* Goes below any stack, out of sight of the compiler, which bounds it. */
CG_USER_KERNEL(add_core)
{
    (void)workspace;
    (void)arguments;
    (void)call;
    __asm__ volatile(DIVE ::: "memory");
    *(volatile int8_t *)result = 0;
}
"""

DIVES = {
    BOARD: r'"   sub   sp, #4096\n   push  {r0}\n"',
    RISCV: r'"   li    t0, 4096\n   sub   sp, sp, t0\n   sw    t0, 0(sp)\n"',
}

GREEDY = """
#include "cg_user_kernel.h"

CG_USER_KERNEL(add_core)
{
    volatile int8_t much[4096];
    (void)workspace;
    (void)arguments;
    (void)call;
    much[0] = 0;
    *(int8_t *)result = much[0];
}
"""


def _model(waits: bool = False) -> bytes:
    """RELU, a custom operator, RELU; or, with the input waiting beside the custom operator, ADD."""
    model = ModelBuilder()
    x, a, g, y = (model.tensor(name, (1, 8, 8, 4), scale=0.5, zero_point=-3) for name in "xagy")
    model.op("RELU", [x], [a])
    model.op("CUSTOM", [a], [g], custom=Custom(code="Add Core"))
    if waits:
        model.op("ADD", [g, x], [y])
    else:
        model.op("RELU", [g], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


def _options(folder: Path, kernel: str, place: str, board: str = BOARD) -> tuple[Path, Options]:
    (folder / "core.c").write_text(kernel)
    (folder / "codegen.toml").write_text(
        f'[[kernel]]\nop = "Add Core"\nsymbol = "add_core"\nsource = "core.c"\n{place}'
    )
    (folder / "cores.tflite").write_bytes(_model())
    found = settings(folder)
    return folder / "cores.tflite", Options(board=board, kernels=found.kernels, places=found.places)


def _open_board(folder: Path) -> str:
    """The AN521 without the MPU, which closes registers to the model on both cores."""
    text = (resources.folder("boards") / f"{BOARD}.toml").read_text(encoding="utf-8")
    assert text.count('mpu = "v8m"\n') == 1
    path = folder / "open.toml"
    path.write_text(text.replace('mpu = "v8m"\n', ""), encoding="utf-8")
    return str(path)


PLACE = '[[place]]\nop = 1\ntarget = "cortex-m33"\ndevice_id = {}\n'
PLACES = {BOARD: PLACE.format(1), RISCV: PLACE.format(1).replace("cortex-m33", "rv32")}


@pytest.mark.qemu
@pytest.mark.parametrize(("place", "core"), [("", 0), (PLACE.format(0), 0), (PLACE.format(1), 1)])
@pytest.mark.sampled(1)
def test_the_core_itself_says_which_it_is(place: str, core: int, tmp_path: Path) -> None:
    path, options = _options(tmp_path, KERNEL, place, _open_board(tmp_path))
    built = build([path], options, tmp_path / "out", emulated=True)
    x = np.random.default_rng(5).integers(-128, 127, (1, 8, 8, 4)).astype(np.int8)
    expected = np.maximum(np.maximum(x, -3) + core, -3).astype(np.int8)
    case = Case(name="cores", inputs=(x,), expected=(expected,))
    assert all_complaints(built, [[case]], [execute(built, [case])]) == []


# ---- what goes wrong there --------------------------------------------------------------


def _case() -> Case:
    x = np.zeros((1, 8, 8, 4), np.int8)
    return Case(name="zeros", inputs=(x,), expected=(x,))


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("board", "address", "words"),
    [
        (BOARD, "0x4001f000", "MemManage fault: access to memory that is closed"),
        (BOARD, "0x38100000", "MemManage fault: access to memory that is closed"),
        (RISCV, "0x10000000", "store to memory that is closed"),
        (RISCV, "0x81100000", "store to memory that is closed"),
    ],
    ids=["register", "unused memory", "riscv register", "riscv unused memory"],
)
def test_a_fault_on_core_1_names_its_step(board: str, address: str, words: str, tmp_path: Path) -> None:
    """The MPU of core 1 closes what core 0's closes to the model."""
    path, options = _options(tmp_path, STRAY.replace("WHERE", address), PLACES[board], board)
    built = build([path], options, tmp_path / "out", emulated=True)
    with pytest.raises(CodegenError) as caught:
        execute(built, [_case()])
    [message] = caught.value.messages
    assert (message.code, message.where) == ("E620", "step 1 user1")
    assert words in message.text
    assert f"at address {address}" in message.text and "(add_core)" in message.text


@pytest.mark.qemu
@pytest.mark.parametrize("board", [BOARD, RISCV])
def test_core_1_goes_on_after_its_stack_overflowed(board: str, tmp_path: Path) -> None:
    """The firmware tells, and tells again: both the link and core 1 outlive the fault."""
    path, options = _options(tmp_path, DEEP.replace("DIVE", DIVES[board]), PLACES[board], board)
    built = build([path], options, tmp_path / "out", emulated=True)
    wanted = request(built.models[0].program, [_case()])
    with boards.session(built.image, built.board) as target:
        for _ in range(2):
            with pytest.raises(CodegenError, match=r"E620\] step 1 user1: .*stack overflow"):
                target.run(wanted)


@pytest.mark.qemu
def test_a_step_on_core_1_that_leaves_its_buffers(tmp_path: Path) -> None:
    """The input waits beside it in the pool: open to the step's core in a plain run, closed in a sandbox."""
    path, options = _options(tmp_path, STRAY.replace("WHERE", "result"), PLACE.format(1))
    path.write_bytes(_model(waits=True))
    options = replace(options, sandbox=True)
    program = build([path], options, tmp_path / "out", emulated=True).models[0].program
    x, g = (
        program.memory.plan.placements[program.memory.slices[name].buffer].offset for name in ("x", "user1")
    )
    stray = STRAY.replace("WHERE", f"(int8_t *)result + ({x - g})")
    path, options = _options(tmp_path, stray, PLACE.format(1))
    path.write_bytes(_model(waits=True))
    built = build([path], replace(options, sandbox=True), tmp_path / "out", emulated=True)
    assert execute(built, [_case()]).result.cases
    with pytest.raises(CodegenError, match=r"E620\] step 1 user1.* access to memory that is closed"):
        execute(built, [_case()], RunConditions(sandboxed=True))


def test_firmware_with_both_cores_of_the_rp2350_is_built(tmp_path: Path) -> None:
    """Its cores wake each other by hints of theirs; no emulator has the chip."""
    place = PLACE.format(1).replace("cortex-m33", "hazard3")
    path, options = _options(tmp_path, GREEDY.replace("4096", "16"), place, "rpi-pico2-riscv")
    built = build([path], options, tmp_path / "out")
    assert {"cg_core1_release", "cg_core1_trap"} <= set(built.image.symbols)
    assert built.image.sizes.core1_stack_bound_bytes is not None


def test_a_stack_of_core_1_that_is_too_short(tmp_path: Path) -> None:
    path, options = _options(tmp_path, GREEDY, PLACE.format(1))
    built = build([path], options, tmp_path / "out", emulated=True)
    with pytest.raises(CodegenError) as caught:
        execute(built, [_case()])
    [message] = caught.value.messages
    assert (message.code, message.where) == ("E405", f"stack of core 1 of {BOARD}")


@pytest.mark.parametrize("board", ["mps2-an505", "host"])
def test_a_board_with_one_core_has_no_device_1(board: str, tmp_path: Path) -> None:
    path, options = _options(tmp_path, KERNEL, PLACE.format(1), board)
    with pytest.raises(CodegenError) as caught:
        plan_model(path, boards.load_board(board), options)
    [message] = caught.value.messages
    core = boards.load_board(board).target.cpu
    assert str(message).startswith(
        'error[E322] op 1 CUSTOM "g": '
        "user1 is given to cortex-m33 device 1 by codegen.toml, line 5, place 1, but "
        f"{board} has only its core, {core} device 0,"
    )


def test_a_third_core(tmp_path: Path) -> None:
    path, options = _options(tmp_path, KERNEL, PLACE.format(2))
    with pytest.raises(
        CodegenError, match="has only its cores, cortex-m33 device 0 and cortex-m33 device 1, and no kernel"
    ):
        plan_model(path, boards.load_board(BOARD), options)


def test_a_real_board_is_not_run(tmp_path: Path) -> None:
    path, options = _options(tmp_path, KERNEL, PLACE.format(1))
    built = build([path], options, tmp_path / "out")
    with pytest.raises(CodegenError, match=r"E608.*mps2-an521: steps on core 1 run on QEMU only"):
        execute(built, [_case()], RunConditions(port="/dev/null"))
