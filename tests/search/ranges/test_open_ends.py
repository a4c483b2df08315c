"""Ranges whose upper end is open: the largest size that fits is found, or nothing ends them."""

from pathlib import Path

import pytest

from codegen.driver.build import plan_model
from codegen.driver.checks.fit import PoolsTooSmall, telling
from codegen.driver.inputs import dims as words_of_dims
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.problem.shortage import DoesNotFit
from codegen.program.program import Program
from tests.search.ranges.networks import audio, overlapping, rows

LIMITED = {"sram": 3000, "psram": 0}


def limited(dim: str, folder: Path) -> Program:
    """The audio net on a board with 3,000 bytes."""
    path = folder / "audio.tflite"
    path.write_bytes(audio().data)
    options = Options(board="mps2-an386", dims=parsed([dim]), pool_limits=LIMITED)
    return plan_model(path, option_board("mps2-an386", ()), options, emulated=True).program


def test_an_open_range_ends_where_the_next_size_fits_no_plan(tmp_path: Path) -> None:
    ranges = limited("T=350..", tmp_path).ranges
    assert ranges is not None
    assert ranges.open_end is not None
    [symbol] = ranges.symbols
    assert (symbol.low, symbol.high) == (350, 372)
    assert ranges.peaks["sram"][-1].planned_bytes <= 3000
    assert ranges.open_end.proved
    assert ranges.open_end.bound_bytes > 3000
    with pytest.raises(DoesNotFit):
        limited("T=373..373", tmp_path)


def test_an_open_range_that_no_limit_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--dim N=1.. --pool sram=200` on a board with a second pool: all went there, and after minutes a range
    of 65,536 sizes that nobody had asked for was still being planned."""
    monkeypatch.setattr(words_of_dims, "LARGEST", 64)
    path = tmp_path / "rows.tflite"
    path.write_bytes(rows().data)
    options = Options(board="mps2-an386", dims=parsed(["T=8.."]), pool_limits={"sram": 200})
    with pytest.raises(CodegenError) as caught:
        plan_model(path, option_board("mps2-an386", ()), options, emulated=True)
    assert str(caught.value) == (
        "error[E281] --dim T=8..: nothing ends this range: T=64 fits in what is left of sram, psram\n"
        "help: give its upper end (--dim T=8..100), or a limit to each of these pools: buffers go where "
        "there is room (--pool NAME=BYTES, 0 for none)"
    )


def test_of_a_range_that_does_not_fit_the_sizes_that_do_are_told(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFit) as caught:
        limited("T=370..374", tmp_path)
    [short] = caught.value.shortages
    assert short.sizes == "sizes up to T=372 fit: --dim T=370..372"
    with pytest.raises(PoolsTooSmall) as told, telling():
        raise caught.value
    assert f"\n  {short.sizes}\nhelp: " in str(told.value)
    with pytest.raises(DoesNotFit) as none:
        limited("T=380..381", tmp_path)
    assert none.value.shortages[0].sizes == "no size fits, not even T=380"


@pytest.mark.thorough
def test_of_an_open_range_the_lower_end_is_left_out_too(tmp_path: Path) -> None:
    """The window needs three frames: one frame was refused, and with it the whole range."""
    path = tmp_path / "m.tflite"
    path.write_bytes(overlapping().data)
    options = Options(board="mps2-an386", dims=parsed(["x0.1=1.."]), pool_limits={"sram": 500, "psram": 0})
    ranges = plan_model(path, option_board("mps2-an386", ()), options, emulated=True).program.ranges
    assert ranges is not None and ranges.open_end is not None
    [symbol] = ranges.symbols
    assert symbol.low == 3 < symbol.high
    assert ranges.open_end.pool == "sram"
    [said] = ranges.narrowed
    assert said.startswith("x0_dim1=1..2 left out: op 3 CONV_2D")
