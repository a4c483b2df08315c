"""Entry points on targets: turns of steps, pools and constants of the caller's, new weights for old code.
`run --port`: a board with the firmware of this build, or of another one.
"""

import json
import shutil
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import emit, toolchain
from codegen.board.machines.qemu import running
from codegen.cli.main import main
from codegen.driver.build import Built, Planned, build, plan_model
from codegen.driver.inputs.cases import Case, pattern_case
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute, reference
from codegen.errors import CodegenError, ExitCode
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.joint import together
from codegen.program.interface import ConstantsMode, EntryMode, Interface, IoMode, PoolOwner
from codegen.program.program import Program
from tests.board.link.test_linked_board import forwarding
from tests.e2e.models import build_model, golden_cases
from tests.products import NO_PRODUCT

pytestmark = pytest.mark.qemu
BOARDS = ("mps2-an386", "mps3-an547", "microbit", "mps2-an385", "host")
OWNED = Interface(entry=EntryMode.STEPS, pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL)
EXTERNAL = Interface(constants=ConstantsMode.EXTERNAL)
Edit = Callable[[Mapping[str, str]], Mapping[str, str]]


def network(folder: Path, seed: int, scale: float = 0.05) -> Path:
    """A small network called `net`: a convolution, a depthwise one, a dense layer. `seed`: its weights."""
    model, dice = ModelBuilder(), np.random.default_rng(seed)

    def weights(name: str, shape: tuple[int, ...], axis: int) -> int:
        data = dice.integers(-127, 128, shape).astype(np.int8)
        scales = [0.01] * shape[axis]
        return model.tensor(name, shape, "int8", scale=scales, zero_point=0, axis=axis, data=data)

    def bias(name: str, count: int) -> int:
        data = dice.integers(-500, 500, count).astype(np.int32)
        return model.tensor(name, (count,), "int32", scale=scale * 0.01, data=data)

    shapes = [("x", (1, 9, 9, 3)), ("a", (1, 9, 9, 8)), ("b", (1, 5, 5, 8)), ("c", (1, 200)), ("y", (1, 10))]
    x, a, b, c, y = (model.tensor(name, shape, "int8", scale=scale, zero_point=3) for name, shape in shapes)
    model.op("CONV_2D", [x, weights("wa", (8, 3, 3, 3), 0), bias("ba", 8)], [a], padding="SAME")
    second = [a, weights("wb", (1, 3, 3, 8), 3), bias("bb", 8)]
    model.op("DEPTHWISE_CONV_2D", second, [b], padding="SAME", stride_h=2, stride_w=2)
    model.op("RESHAPE", [b, model.constant("shape", [1, 200])], [c])
    model.op("FULLY_CONNECTED", [c, weights("wc", (10, 200), 0), bias("bc", 10)], [y])
    model.inputs(x)
    model.outputs(y)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "net.tflite"
    path.write_bytes(model.build())
    return path


def planned(path: Path, board: str, interface: Interface, **settings: object) -> Planned:
    """A model as `run` plans it for an emulated board."""
    options = replace(Options(board=board, interface=interface), **settings)
    return plan_model(path, option_board(board, options.pools), options, emulated=True)


def built(model: Planned, folder: Path, edit: Edit = dict, weights: Planned | None = None) -> Built:
    """The model with test firmware in which `edit` changed files, with the constants of `weights`."""
    board = model.program.board
    bundle = together((model.program,))
    sources = emit.render(bundle)
    changed = replace(sources, files=edit(sources.files))
    if weights is not None:
        changed = replace(changed, binaries=emit.render(together((weights.program,))).binaries)
    with emit.staged(changed, folder) as staging:
        image = toolchain.build(changed, staging, board)
    moved = replace(image, path=folder / image.path.relative_to(staging))
    return Built(models=(model,), bundle=bundle, board=board, image=moved, folder=folder, product=NO_PRODUCT)


def cases(program: Program, count: int = 2) -> list[Case]:
    return [pattern_case([tensor.type for tensor in program.signature.inputs], seed) for seed in range(count)]


def check(done: Built, given: list[Case]) -> None:
    """Outputs as the reference has them, measured peaks and stack as planned."""
    measured = execute(done, given)
    assert complaints(done.models[0], given, measured, done.image.sizes.stack_bound_bytes) == []


@pytest.mark.covering
@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("interface", [OWNED, EXTERNAL], ids=["owned", "external"])
@pytest.mark.parametrize("io", IoMode)
@pytest.mark.sampled(3)
def test_every_way_of_calling_gives_the_same(
    board: str, interface: Interface, io: IoMode, tmp_path: Path
) -> None:
    model = planned(network(tmp_path, 1), board, interface, io=io)
    check(built(model, tmp_path / "build"), cases(model.program))


@pytest.mark.parametrize("board", [board for board in BOARDS if board != "mps2-an385"])
@pytest.mark.sampled(2)
def test_new_weights_for_old_code(board: str, tmp_path: Path) -> None:
    """The code of one model with the image of another of the same graph: the outputs are the other's."""
    old = planned(network(tmp_path / "old", 1), board, OWNED)
    new = planned(network(tmp_path / "new", 2), board, OWNED)
    done = built(old, tmp_path / "build", weights=new)
    given = cases(old.program)
    expected = [replace(case, expected=reference(new, case)) for case in given]
    check(done, expected)
    assert all((reference(new, case)[0] != reference(old, case)[0]).any() for case in given), (
        "else nothing was shown"
    )


def test_weights_for_other_code_are_refused(tmp_path: Path) -> None:
    """Another scale at the edges: the application's own quantisation would be wrong. 11: the layout."""
    old = planned(network(tmp_path / "old", 1), "mps2-an386", EXTERNAL)
    new = planned(network(tmp_path / "new", 1, scale=0.06), "mps2-an386", EXTERNAL)
    done = built(old, tmp_path / "build", weights=new)
    with pytest.raises(CodegenError, match=r"E611\].* status 11"):
        execute(done, cases(old.program, 1))


def test_weights_that_are_packed_otherwise_are_refused(tmp_path: Path) -> None:
    """On a Cortex-M3 the weights decide how many products share a word: 8, another size, or 11."""
    old = planned(network(tmp_path / "old", 1), "mps2-an385", OWNED)
    new = planned(network(tmp_path / "new", 2), "mps2-an385", OWNED)
    done = built(old, tmp_path / "build", weights=new)
    with pytest.raises(CodegenError, match=r"E611\].* status (8|11)"):
        execute(done, cases(old.program, 1))


REFUSING = """
static uint8_t image[NET_CONSTANTS_SIZE + 32u] CG_ALIGNED(16);

static cg_status refused(size_t flipped, size_t offset, uint32_t size_bytes)
{
    for (size_t i = 0; i < NET_CONSTANTS_SIZE; i++) {
        image[offset + i] = net_constants_bytes[i];
    }
    if (flipped < NET_CONSTANTS_SIZE) {
        image[offset + flipped] ^= 1u;
    }
    return net_set_constants(image + offset, size_bytes);
}

static cg_status run(void)
{
    static const struct { size_t flipped; size_t offset; uint32_t size_bytes; cg_status status; } wrong[] = {
        {SIZE_MAX, 1, NET_CONSTANTS_SIZE, CG_ERR_CONSTANTS_ALIGNMENT},
        {SIZE_MAX, 0, NET_CONSTANTS_SIZE - 1u, CG_ERR_CONSTANTS_SIZE},
        {0, 0, NET_CONSTANTS_SIZE, CG_ERR_CONSTANTS_FORMAT},
        {4, 0, NET_CONSTANTS_SIZE, CG_ERR_CONSTANTS_ABI},
        {8, 0, NET_CONSTANTS_SIZE, CG_ERR_CONSTANTS_SIZE},
        {12, 0, NET_CONSTANTS_SIZE, CG_ERR_CONSTANTS_LAYOUT},
        {28, 0, NET_CONSTANTS_SIZE, CG_ERR_CONSTANTS_CONTENT},
        {NET_CONSTANTS_SIZE - 1u, 0, NET_CONSTANTS_SIZE, CG_ERR_CONSTANTS_CONTENT},
    };
    static bool taken;
    uint8_t before[64];
    memcpy(before, bench_pools[0].base, sizeof before);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0] && !taken; i++) {
        if (refused(wrong[i].flipped, wrong[i].offset, wrong[i].size_bytes) != wrong[i].status) {
            return (cg_status)(100 + (int)i);
        }
        if (net_run(NULL, NULL) != CG_ERR_CONSTANTS_MISSING) {
            return (cg_status)200;
        }
        if (memcmp(before, bench_pools[0].base, sizeof before) != 0) {
            return (cg_status)201;
        }
    }
    taken = true;
    if (refused(SIZE_MAX, 0, NET_CONSTANTS_SIZE) != CG_OK) {
        return (cg_status)202;
    }
    return net_run(NULL, NULL);
}
"""


def rewritten(text: str, run: str) -> str:
    """A model's bench file with another `run`."""
    head, _, rest = text.partition("static cg_status run(void)")
    _, _, tail = rest.partition("\n}\n")
    return head.replace("#include <stddef.h>", "#include <stddef.h>\n#include <string.h>") + run + tail


@pytest.mark.parametrize("board", ["mps2-an386", "microbit", "host"])
@pytest.mark.sampled(1)
def test_wrong_images_are_refused_on_the_target(board: str, tmp_path: Path) -> None:
    """Each with its code, before anything runs or is written; then the right one gives the right outputs."""
    model = planned(network(tmp_path, 1), board, EXTERNAL)
    file = "firmware/net_bench.c"
    done = built(model, tmp_path / "build", lambda files: {**files, file: rewritten(files[file], REFUSING)})
    given = cases(model.program, 1)
    measured = execute(done, given)
    assert all(output.matches for case in measured.comparisons for output in case)


TWO = """
static uint8_t second[NAME_SRAM_POOL_SIZE] CG_ALIGNED(NAME_SRAM_POOL_ALIGNMENT);
static const int8_t other_input[] = {INPUT};
static const int8_t other_output[] = {OUTPUT};
/* The stack is bounded for the entry function, which nothing else calls here. */
static volatile uint8_t never;

static cg_status run(void)
{
    if (never != 0) {
        return name_run(&pools, NULL, NULL);
    }
    const name_workspace_pools other = {.sram = second, .sram_size_bytes = sizeof second};
    memcpy(name_FIRST(&other), other_input, sizeof other_input);
    for (uint32_t step = 0; step < NAME_STEPS; step++) {
        if (name_step(step, &pools) != CG_OK || name_step(step, &other) != CG_OK) {
            return CG_ERR_STEP;
        }
    }
    return memcmp(name_output_LAST(&other), other_output, sizeof other_output) == 0 ? CG_OK : CG_ERR_INPUT;
}
"""


@pytest.mark.parametrize("board", ["mps2-an386", "mps2-an385", "host"])
@pytest.mark.sampled(1)
def test_two_instances_of_a_real_model_take_turns(board: str, tmp_path: Path) -> None:
    """kws, step by step: the link's case in its pools, another golden case in pools of its own."""
    key = "ds_cnn"
    interface = Interface(entry=EntryMode.STEPS, pools=PoolOwner.CALLER)
    whole = build_model(key, Options(board=board, interface=interface), tmp_path / "whole")
    first, second = golden_cases(key)[:2]
    assert (first.inputs[0] != second.inputs[0]).any() and second.known_outputs is not None
    program = whole.models[0].program
    text = TWO.replace("{INPUT}", f"{{{', '.join(map(str, second.inputs[0].ravel()))}}}")
    text = text.replace("{OUTPUT}", f"{{{', '.join(map(str, second.known_outputs[0].ravel()))}}}")
    text = text.replace("FIRST", program.signature.inputs[0].field).replace(
        "LAST", program.signature.outputs[0].field
    )
    text = text.replace("NAME", program.name.upper()).replace("name_", f"{program.name}_")
    pool = program.memory.problem.pools[0].name.upper()
    text = text.replace("SRAM_POOL", f"{pool}_POOL").replace(".sram", f".{pool.lower()}")
    file = f"firmware/{program.name}_bench.c"
    done = built(
        whole.models[0], tmp_path / "build", lambda files: {**files, file: rewritten(files[file], text)}
    )
    measured = execute(done, [first])
    found = complaints(done.models[0], [first], measured, None)
    assert found == [], "the stack is that of both instances: not measured"


Call = Callable[..., int]


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> Generator[Call]:
    """`codegen` with a port behind which a board runs the example, built with the flags that are default."""
    folder = tmp_path_factory.mktemp("port") / "b"
    built = build([example_model()], Options(board="mps2-an386"), folder)
    with running(built.board, built.image.path) as emulator:

        def call(*words: str) -> int:
            with forwarding(emulator.port) as url, pytest.raises(SystemExit) as left:
                main([*words, "--board", "mps2-an386", "--port", url])
            return int(str(left.value.code))

        yield call


@pytest.mark.parametrize("flags", [("--optimize", "size"), ("--pool", "psram=0")], ids=["optimize", "pool"])
@pytest.mark.sampled(1)
def test_another_build_of_the_same_model(
    flags: tuple[str, ...], call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures of the wrong binary were reported, the plan blamed (exit 8), or a ValueError shown."""
    assert call("run", *flags) == ExitCode.TARGET
    said = capsys.readouterr()
    assert said.out == "" and "error[E615] mps2-an386: another build is on the board: build " in said.err


@pytest.mark.thorough
def test_several_models_against_firmware_of_one(
    call: Call, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It was a traceback: ValueError, the image has 1 models."""
    twin = tmp_path / "twin.tflite"
    shutil.copyfile(example_model(), twin)
    assert call("run", str(example_model()), str(twin)) == ExitCode.TARGET
    assert "error[E615] mps2-an386: another build is on the board" in capsys.readouterr().err


def _zeros(folder: Path) -> str:
    np.savez(folder / "x.npz", x0=np.zeros((1, 8, 8, 1), np.int8))
    return str(folder / "x.npz")


def _report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text())


def test_every_step_is_counted_on_the_board(
    call: Call, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A port gave neither a speed line nor any figure of a step. Behind this one is an emulator, so
    ticks of its counter are told as cycles, and each is so many instructions of QEMU's own run."""
    out, arrays = tmp_path / "out", _zeros(tmp_path)
    assert call("run", "--input", arrays, "--steps", "-o", str(out)) == ExitCode.OK
    shown, board = capsys.readouterr().out, _report(out)
    with pytest.raises(SystemExit) as left:
        main(["run", "--board", "mps2-an386", "--input", arrays, "--steps", "-o", str(tmp_path / "qemu")])
    assert left.value.code in (0, None)
    emulated, qemu_shown = _report(tmp_path / "qemu"), capsys.readouterr().out
    assert "outputs   1 of 1 cases equal to the NumPy reference" in shown
    cycles, instructions = board["run"]["cycles"], emulated["run"]["instructions"]
    tick = emulated["run"]["instructions_resolution"]
    assert abs(cycles * tick - instructions) <= 2 * tick and board["run"]["instructions"] is None
    assert f"speed     {cycles:,} cycles an inference (" in shown
    assert f"speed     {instructions:,} instructions an inference (" in qemu_shown
    for one, other in zip(board["steps"], emulated["steps"], strict=True):
        assert one["instructions"] is None and other["cycles"] is None
        if other["instructions"] is None:  # a view: no code
            assert one["cycles"] is None
            continue
        assert abs(one["cycles"] * tick - other["instructions"]) <= 2 * tick
        for text, count in ((shown, one["cycles"]), (qemu_shown, other["instructions"])):
            assert any(f" {count:,} " in row and f" {one['op']} " in row for row in text.splitlines())
    total = sum(step["cycles"] or 0 for step in board["steps"])
    assert abs(total - cycles) <= 4 * len(board["steps"]) and f" {total:,} " in shown


def test_an_alias_of_a_board_makes_no_other_build(tmp_path: Path) -> None:
    """`build --board stm32`, then `run --board netduinoplus2 --port`: that firmware is on the board."""
    asked = ("stm32", "netduinoplus2")
    built = [build([example_model()], Options(board=name), tmp_path / name) for name in asked]
    assert len({each.image.build_sha256 for each in built}) == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ("--board", "host"),
            "nothing counts instructions or cycles on board host\nhelp: leave --steps out",
        ),
        (
            ("--board", "mps2-an505", "--sandbox"),
            "nothing is counted with --sandbox\nhelp: leave --sandbox out, or take",
        ),
    ],
    ids=["host", "sandbox"],
)
def test_steps_where_nothing_counts(
    words: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["run", *words, "--steps"])
    assert left.value.code == ExitCode.USAGE
    assert f"error[E229] --steps: {text}" in capsys.readouterr().err
