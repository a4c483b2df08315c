"""Networks through Vela and the functional model: bit-equal to TFLite's outputs of the file before Vela."""

import re
import subprocess
from pathlib import Path

import pytest

from codegen.cli import main
from codegen.errors import CodegenError
from codegen.ethos_u.functional_model import _library  # pyright: ignore[reportPrivateUsage]
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.tools.npu.vela_file import read_vela_file
from tests.checkout import ROOT
from tests.engines import TFLITE_RUNTIME, available
from tests.networks import model_path

VELA = ROOT / ".venv-engines" / "bin" / "vela"
needs_vela = pytest.mark.skipif(
    not VELA.exists() or TFLITE_RUNTIME not in available(), reason="make engines installs Vela and TFLite"
)


def _said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `codegen npu`."""
    with pytest.raises(SystemExit) as ended:
        main(["npu", *map(str, words)])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def _compiled(model: Path, folder: Path, device: str) -> Path:
    words = [VELA, "--accelerator-config", device, "--output-dir", folder, model]
    subprocess.run(words, check=True, capture_output=True)
    return folder / f"{model.stem}_vela.tflite"


@needs_vela
@pytest.mark.parametrize(
    ("network", "device"),
    [
        ("ds_cnn", "ethos-u55-128"),
        ("ds_cnn", "ethos-u55-32"),
        ("autoencoder", "ethos-u55-256"),
        ("resnet8", "ethos-u65-512"),
        ("separable_1d", "ethos-u55-64"),
    ],
)
@pytest.mark.sampled(2)
def test_networks_are_equal_to_tflite(
    network: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = model_path(network)
    compiled = _compiled(model, tmp_path, device)
    code, out, err = _said(capsys, compiled, "--against", model, "--cases", 2)
    assert (code, err) == (0, "")
    assert device in out
    assert "2 of 2 cases equal to tflite-runtime" in out


@needs_vela
def test_the_first_element_that_differs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Constants of the file are changed behind Vela's back: a bias of the first layer."""
    model = model_path("ds_cnn")
    compiled = _compiled(model, tmp_path, "ethos-u55-128")
    data = bytearray(compiled.read_bytes())
    constants = read_vela_file(compiled).operators[0].constants.tobytes()
    start = bytes(data).index(constants)
    data[start + 2] ^= 0x40  # of the first channel's bias, 2^22
    compiled.write_bytes(data)
    code, _, err = _said(capsys, compiled, "--against", model, "--cases", 1)
    assert code == 7
    assert "error[E705] case 0, output " in err
    assert re.search(r"\d+ of 12 elements differ; element \d+ is -?\d+, the engine has -?\d+", err)


@needs_vela
def test_an_output_of_another_shape_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two networks take images of one size and give 12 and 600 numbers."""
    compiled = _compiled(model_path("ds_cnn"), tmp_path, "ethos-u55-128")
    shape = read_vela_file(compiled).operators[0].inputs[0].shape
    model = ModelBuilder()
    x = model.tensor("x", shape, scale=0.5)
    y = model.tensor("y", shape, scale=0.5)
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    other = tmp_path / "other.tflite"
    other.write_bytes(model.build())
    code, _, err = _said(capsys, compiled, "--against", other, "--cases", 1)
    assert code == 7
    assert f"the model gives 12 elements, the engine {shape[1] * shape[2] * shape[3]}" in err


@needs_vela
def test_inputs_are_those_of_the_network_in_its_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Vela lists the inputs of a CONCATENATION in another order than the network has them."""
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 4, 4, depth), scale=0.5) for name, depth in (("x", 3), ("y", 5)))
    z = model.tensor("z", (1, 4, 4, 8), scale=0.5)
    model.op("CONCATENATION", [y, x], [z], axis=3)
    model.inputs(x, y)
    model.outputs(z)
    path = tmp_path / "joined.tflite"
    path.write_bytes(model.build())
    code, out, err = _said(capsys, _compiled(path, tmp_path, "ethos-u55-128"), "--against", path)
    assert (code, err) == (0, "")
    assert "4 of 4 cases equal" in out


def test_a_file_without_npu_operators_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = _said(capsys, model_path("ds_cnn"))
    assert code == 3
    assert "error[E315]" in err
    assert "the file has no operator ethos-u: Vela did not compile it" in err
    assert "help: vela --accelerator-config ethos-u55-128 MODEL.tflite" in err


@needs_vela
def test_damaged_metadata_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The entry's name has a length beyond the file: the importer does not look at metadata."""
    compiled = _compiled(model_path("ds_cnn"), tmp_path, "ethos-u55-128")
    data = bytearray(compiled.read_bytes())
    data[data.index(b"OfflineMemoryAllocation") - 1] = 0x7F
    compiled.write_bytes(data)
    code, _, err = _said(capsys, compiled)
    assert code == 3
    assert "error[E3" in err


def test_a_compiler_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho no headers here >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(CodegenError) as refused:
        _library.__wrapped__()
    assert refused.value.messages[0].code == "E502"
    assert f"{compiler} cannot compile the functional model" in refused.value.messages[0].text
    assert "no headers here" in refused.value.messages[0].text


def test_a_stream_without_its_header_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = ModelBuilder()
    x = model.tensor("x", (1, 8), scale=0.5)
    y = model.tensor("y", (1, 8), scale=0.5)
    model.op("CUSTOM", [x], [y], custom=Custom(code="ethos-u"))
    model.inputs(x)
    model.outputs(y)
    path = tmp_path / "m.tflite"
    path.write_bytes(model.build())
    code, _, err = _said(capsys, path)
    assert code == 3
    assert "error[E316] m.tflite: the file lacks the metadata OfflineMemoryAllocation" in err
