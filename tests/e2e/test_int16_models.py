"""The shared operator models on int16 (weights int8): one program each board, bit-equal to TFLite's goldens.

They are the layers of one speech enhancement network, as its repository ships them. TRANSPOSE_CONV is not
supported on any type, so its three models are not here (`test_what_is_left_out`).
"""

from pathlib import Path

import pytest

from codegen import board as boards
from codegen.driver.build import build
from codegen.driver.options import Options
from codegen.driver.run import execute
from codegen.errors import CodegenError
from codegen.importers import load
from tests.e2e.models import golden_cases
from tests.e2e.test_opgen import run_batch
from tests.opgen import OpCase
from tests.testdata import index, model_path

LEFT_OUT = "seanet_transpose_conv/"
KEYS = tuple(key for key in sorted(index()) if key.startswith("seanet_") and not key.startswith(LEFT_OUT))


def op_case(key: str) -> OpCase:
    """A shared model with its golden cases; other engines' answers (`alt_`) left out."""
    cases = [case for case in golden_cases(key) if not case.name.startswith("alt")]
    assert len(cases) >= 4, key
    return OpCase(
        name=key.replace("/", "_"),
        operator=index()[key]["ops"].split(":")[0],
        engine=index()[key]["golden_engine"],
        model=model_path(key).read_bytes(),
        inputs=tuple(case.inputs for case in cases),
        expected=tuple(case.known_outputs or () for case in cases),
    )


def few(family: str, count: int) -> list[OpCase]:
    """The smallest models of an operator."""
    keys = [key for key in KEYS if key.startswith(f"{family}/")]
    return [op_case(key) for key in sorted(keys, key=_size)[:count]]


def _size(key: str) -> int:
    return int(index()[key]["activation_bytes_sum"])


def test_all_of_them_on_the_host(tmp_path: Path) -> None:
    assert len(KEYS) == 63
    run_batch([op_case(key) for key in KEYS], "host", tmp_path)


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_some_of_each_on_large_boards(board: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    families = sorted({key.split("/")[0] for key in KEYS})
    count = 99 if request.config.getoption("--long") else 2
    run_batch([case for family in families for case in few(family, count)], board, tmp_path)


@pytest.mark.qemu
def test_some_on_a_core_without_long_multiplication(tmp_path: Path) -> None:
    families = ("seanet_add", "seanet_conv", "seanet_leaky_relu", "seanet_quantize")  # 16 KiB hold four
    cases = [case for family in families for case in few(family, 1)]
    run_batch(cases, "microbit", tmp_path)


def test_what_is_left_out() -> None:
    for key in index():
        if key.startswith(LEFT_OUT):
            with pytest.raises(CodegenError) as error:
                load(model_path(key))
            assert [m.text for m in error.value.messages] == ["operator TRANSPOSE_CONV is not supported"]


def test_the_boards_are_what_the_tests_take_them_for() -> None:
    cpus = {board: boards.load_board(board).target.cpu for board in ("microbit", "mps2-an386", "mps3-an547")}
    assert cpus == {"microbit": "cortex-m0", "mps2-an386": "cortex-m4", "mps3-an547": "cortex-m55"}


@pytest.mark.qemu
def test_loops_counted_by_le_keep_the_tests_behind_them(tmp_path: Path) -> None:
    """gcc 12 at -Os for Cortex-M55 made `if (n > 0)` behind `for (; n >= 2; n -= 2)` unconditional: windows
    of single pixels were copied a word too far, and 52 values of this layer came out wrong."""
    options = Options(board="mps3-an547", optimize="size")
    cases = [case for case in golden_cases("seanet_conv/conv12") if not case.name.startswith("alt")]
    built = build([model_path("seanet_conv/conv12")], options, tmp_path / "out", emulated=True)
    assert built.models[0].program.prim_funcs[0].kernel == "conv2d_s16_dsp"
    measured = execute(built, cases)
    assert all(one.matches for each in measured.comparisons for one in each)
