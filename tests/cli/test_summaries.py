"""What summaries and reports say of constants and their copies."""

import json

import pytest

from tests.cli.test_verbs import call
from tests.testdata import model_path


def test_constants_of_the_callers_lie_in_no_flash(capsys: pytest.CaptureFixture[str]) -> None:
    """They were reported as bytes in flash, with its section, though no image of the model holds them."""
    model = str(model_path("tflm/micro_speech_quantized"))
    words = ["plan", model, "--board", "mps2-an386", "--constants"]
    assert call(*words, "external", "--json") == 0
    found = json.loads(capsys.readouterr().out)["constants"]
    size = found["total_bytes"]
    assert found["mode"] == "external" and size > 0
    [pool] = found["pools"]
    assert (pool["name"], pool["region"], pool["section"], pool["size_bytes"]) == ("flash", None, None, size)
    assert call(*words, "external") == 0
    told = f"constants {size:,} bytes not in the image: the caller's, planned as if in flash\n"
    assert told in capsys.readouterr().out
    assert call(*words, "linked", "--json") == 0
    [pool] = json.loads(capsys.readouterr().out)["constants"]["pools"]
    assert (pool["region"], pool["section"]) == ("FLASH", ".rodata.cg.flash")


def test_copies_of_one_model_are_told_without_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """`staged    micro_speech_quantized: ... 1 copies an inference` below a headline with the name."""
    model = str(model_path("tflm/micro_speech_quantized"))
    words = ["--board", "nucleo-g474re", "--stage", "use", "--optimize", "speed", "--pool", "ccm=0"]
    for limit, copies in ((5100, "160 bytes in 1 copy"), (5300, "320 bytes in 2 copies")):
        assert call("plan", model, *words, "--pool", f"sram={limit}") == 0
        [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("staged")]
        assert line.startswith(f"staged    0 bytes at start-up, {copies} an inference, to sram; reads of")


def test_one_compressed_constant_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """`compressed 1 constants`."""
    words = ["plan", str(model_path("mlperf_tiny/ad01_int8")), "--board", "mps2-an386", "--optimize", "speed"]
    for limit, told in ((275_000, "1 constant"), (270_000, "2 constants")):
        assert call(*words, "--pool", f"flash={limit}") == 0
        assert f"\ncompressed {told}, " in capsys.readouterr().out
