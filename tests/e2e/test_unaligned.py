"""No kernel relies on an alignment that the plan does not state: unaligned words are trapped.

The product lets the C library and gcc use unaligned words where the core can; here both are told not to, so
that what is left to trap is ours: kernels in assembly and with intrinsics.
"""

import re
from pathlib import Path

import pytest

from codegen import resources
from codegen.board import load_board
from codegen.board.link.linked_board import target_session
from codegen.driver.build import build
from codegen.driver.options import Optimize, Options
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from tests.board import probe
from tests.e2e.models import golden_cases
from tests.kernels.dsp.depthwise_models import run_all
from tests.kernels.dsp.test_depthwise_on_target import random_models
from tests.testdata import model_path

pytestmark = pytest.mark.qemu
BOARDS = ("mps2-an385", "mps2-an386", "mps3-an547")
MODELS = (
    "mlperf_tiny/kws_ref_model",
    "mlperf_tiny/vww_96_int8",
    "mlperf_tiny/pretrainedResnet_quant",
    "mlperf_tiny/str_ww_ref_model",
    "tflm/micro_speech_quantized",
)


def trapping(board: str, folder: Path) -> str:
    """The board's file with unaligned words trapped, and nothing compiled to use them."""
    text = (resources.folder("boards") / f"{board}.toml").read_text(encoding="utf-8")
    flags = r'\g<0>"-mno-unaligned-access", "-DCG_TRAP_UNALIGNED", '
    changed, count = re.subn(r"compiler_flags = \[", flags, text)
    assert count == 1
    path = folder / f"{board}.toml"
    path.write_text(changed, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("board", BOARDS)
def test_the_trap_is_set(board: str, tmp_path: Path) -> None:
    """The same access passes where nothing is trapped."""
    for name, is_trapped in ((board, False), (trapping(board, tmp_path), True)):
        target = load_board(name)
        folder = tmp_path / str(is_trapped)
        folder.mkdir()
        image = probe.firmware(folder, target, address=0x6800_0000)
        pool = target.region(target.data_region).pool_name
        with target_session(image, target) as session:
            wanted = probe.request("unaligned", pool=pool)
            if is_trapped:
                with pytest.raises(CodegenError, match=r"E620.*unaligned access"):
                    session.run(wanted)
            else:
                session.run(wanted)


@pytest.mark.parametrize("optimize", ["speed", "balanced", "size"])
@pytest.mark.parametrize("board", BOARDS)
def test_whole_models(board: str, optimize: Optimize, tmp_path: Path) -> None:
    options = Options(board=trapping(board, tmp_path), optimize=optimize)
    paths = [model_path(key) for key in MODELS]
    built = build(paths, options, tmp_path / "build", emulated=True)
    for index, key in enumerate(MODELS):
        cases = golden_cases(key)[:1]
        measured = execute(built, cases, model=index)
        assert complaints(built.models[index], cases, measured, None) == []


def test_random_depthwise_layers(tmp_path: Path) -> None:
    """Channels that are no multiple of four lie on any byte."""
    run_all(random_models(7, 32), trapping("mps2-an386", tmp_path), tmp_path, "speed", images=1)
