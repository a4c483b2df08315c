"""Valid models that ended the search for blocks with a traceback, and what such a fault leads to now."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Never

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from codegen import board as boards
from codegen.cli.main import cli
from codegen.driver.build import Planned, Share, plan_model
from codegen.driver.options import Options
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.shortage import DoesNotLink, FlashShortage
from codegen.search import Choices, falling_back
from codegen.search.blocks.line_floor import LineFloor

READERS = ("Sigmoid", "Tanh", "HardSwish", "Relu", "Add")


def _saved(
    path: Path, shape: Sequence[int], nodes: Sequence[onnx.NodeProto], constants: dict[str, np.ndarray]
) -> Path:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "faults",
        [info("x", TensorProto.FLOAT, shape)],
        [info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(data, name) for name, data in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def _resized(path: Path, batch: int, scales: Sequence[float], reader: str) -> Path:
    resize = helper.make_node(
        "Resize", ["x", "", "s"], ["a"], mode="linear", coordinate_transformation_mode="half_pixel"
    )
    read = helper.make_node(reader, ["a", "a"] if reader == "Add" else ["a"], ["y"])
    return _saved(path, [batch, 3, 6, 6], [resize, read], {"s": np.array(scales, np.float32)})


def _planned(path: Path, **options: Any) -> Planned:
    return plan_model(
        path, boards.load_board("stm32"), Options(board="stm32", **options), share=Share(name="m", alone=True)
    )


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("scales", [(1, 1, 2, 2), (1, 1, 2, 1)])
def test_a_resized_image_is_read_row_by_row_by_none(
    tmp_path: Path, reader: str, batch: int, scales: tuple[int, ...]
) -> None:
    """A linear Resize is a product by rows of pixels: FULLY_CONNECTED, which sees its image as one line of
    pixels. It had a row kernel of that geometry; its reader asked for rows that this line has not
    (IndexError in `Axis.span`)."""
    planned = _planned(_resized(tmp_path / "m.onnx", batch, scales, reader))
    assert planned.program.notes == ()


@pytest.mark.parametrize("optimize", ["balanced", "size"])
def test_an_input_is_streamed_to_a_block_of_all_steps(tmp_path: Path, optimize: str) -> None:
    """No step is outside of the block: the largest need of none was asked for (TypeError)."""
    path = _saved(tmp_path / "m.onnx", [1, 4, 7, 9], [helper.make_node("Tanh", ["x"], ["y"])], {})
    program = _planned(path, stream_input=True, optimize=optimize).program
    assert len(program.steps.prim_funcs) >= 1
    assert program.edge.streamed is not None


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Lets the search for blocks fail; as users meet it, or as the suite does."""

    def grow(self: LineFloor, prim: PrimFunc) -> Never:
        raise IndexError("tuple index out of range")

    def fail(raises: bool) -> None:
        monkeypatch.setattr(LineFloor, "grow", grow)
        monkeypatch.setattr(falling_back, "RAISES", raises)

    return fail


def test_a_fault_in_the_search_for_blocks_ends_no_build(
    tmp_path: Path, faulty: Callable[[bool], None]
) -> None:
    path = _resized(tmp_path / "m.onnx", 1, (1, 1, 2, 2), "Tanh")
    whole = _planned(path, blocks=False)
    faulty(False)
    planned = _planned(path)
    assert planned.program.memory.plan.placements == whole.program.memory.plan.placements
    assert planned.program.notes == (
        "the search for layers to run row by row failed (IndexError: tuple index out of range), so every "
        "value lies in memory whole; the plan is right, but may need more bytes. Please report it with the "
        "model",
    )
    result = CliRunner().invoke(cli, ["plan", str(path), "--board", "stm32"])
    assert result.exit_code == 0, result.output
    assert "note      the search for layers to run row by row failed (IndexError" in result.stdout


def test_constants_that_do_not_fit_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users of a flash limit were advised a plan without blocks, as after a fault: three times the RAM."""
    monkeypatch.setattr(falling_back, "RAISES", False)
    asked: list[bool] = []

    def planned(choices: Choices) -> Never:
        asked.append(choices.blocks)
        raise DoesNotLink(FlashShortage(shares=()))

    with pytest.raises(DoesNotLink):
        falling_back.with_or_without_blocks(Choices(), planned)
    assert asked == [True]


def test_the_suite_sees_such_a_fault(tmp_path: Path, faulty: Callable[[bool], None]) -> None:
    faulty(True)
    with pytest.raises(IndexError):
        _planned(_resized(tmp_path / "m.onnx", 1, (1, 1, 2, 2), "Tanh"))


def test_a_streamed_input_has_nothing_to_fall_back_to(tmp_path: Path, faulty: Callable[[bool], None]) -> None:
    path = _saved(tmp_path / "m.onnx", [1, 4, 7, 9], [helper.make_node("Tanh", ["x"], ["y"])], {})
    faulty(False)
    with pytest.raises(IndexError):
        _planned(path, stream_input=True)
