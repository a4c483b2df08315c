"""Hard limits hold for what is emitted, not for the plan alone."""

import json
from pathlib import Path

from codegen.driver.build import build
from codegen.driver.options import Options
from tests.testdata import model_path

KWS = model_path("mlperf_tiny/kws_ref_model")
SPEECH = model_path("tflm/micro_speech_quantized")


def test_no_array_is_larger_than_the_limit(tmp_path: Path) -> None:
    """`--pool sram=134` gave an array of 144 bytes: sizes were rounded up to the pool's alignment."""
    peak = (
        build([SPEECH], Options(board="host", optimize="size"), tmp_path / "free").bundle.pools[0].size_bytes
    )
    assert peak % 16
    options = Options(board="host", optimize="size", pool_limits={"sram": peak})
    built = build([SPEECH], options, tmp_path / "tight")
    [pool] = built.bundle.pools
    assert pool.size_bytes == peak
    [told] = json.loads((built.folder / "report.json").read_text())["plan"]["pools"]
    assert (told["size_bytes"], told["peak_bytes"]) == (peak, peak)
    header = (built.folder / "micro_speech_quantized.h").read_text()
    assert f"#define MICRO_SPEECH_QUANTIZED_SRAM_POOL_SIZE  {peak}u" in header


def test_no_shared_array_is_larger_than_the_limit(tmp_path: Path) -> None:
    """The last of concurrent models ends where its bytes do."""
    names = ("kws_ref_model", "micro_speech_quantized")
    options = Options(board="host", optimize="size", concurrent=(names,))
    [free] = build([KWS, SPEECH], options, tmp_path / "free").bundle.pools
    assert free.size_bytes % 16
    tight = Options(board="host", optimize="size", concurrent=(names,), pool_limits={"sram": free.size_bytes})
    [pool] = build([KWS, SPEECH], tight, tmp_path / "tight").bundle.pools
    assert pool.size_bytes <= free.size_bytes
