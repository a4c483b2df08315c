"""`load`: which files it takes, and what it says about others."""

import os
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.importers import load
from codegen.importers.limits import MAX_FILE_BYTES
from tests.importers.samples import everything, written


def _refusal(path: Path) -> tuple[int, str]:
    with pytest.raises(CodegenError) as caught:
        load(path)
    return int(caught.value.exit_code), str(caught.value)


def test_extension_does_not_matter_for_a_tflite_file(tmp_path: Path) -> None:
    module = load(written(tmp_path, "model.bin", everything()))
    assert module.metadata["file"] == "model.bin"


HELP = "help: give a .tflite file (TensorFlow: tf.lite.TFLiteConverter; PyTorch: ai-edge-torch)"


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("m.tflite", b"", f"error[E300] m.tflite: the file is empty\n{HELP}"),
        (
            "m.tflite",
            b"abcdefghijkl",
            "error[E300] m.tflite: this is not a TensorFlow Lite file: bytes 4 to 7 are 65 66 67 68, "
            "not 54 46 4c 33 (TFL3)\nhelp: export or download the file again",
        ),
        (
            "m.TFLITE",
            b"abc",
            "error[E300] m.TFLITE: this is not a TensorFlow Lite file: bytes 4 to 7 are missing, "
            "not 54 46 4c 33 (TFL3)\nhelp: export or download the file again",
        ),
        (
            "m.onnx",
            b"\x08\x07\x12\x0cbackend-test",
            f"error[E300] m.onnx: ONNX models cannot be imported, only TensorFlow Lite models can\n{HELP}",
        ),
        (
            "m.xyz",
            b"abcdefgh",
            "error[E300] m.xyz: the file's format is not known: only TensorFlow Lite models can be imported\n"
            + HELP,
        ),
    ],
)
def test_other_files_are_refused(tmp_path: Path, name: str, data: bytes, text: str) -> None:
    assert _refusal(written(tmp_path, name, data)) == (3, text)


def test_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.tflite"
    expected = f"error[E211] {path}: cannot read the model file: No such file or directory"
    assert _refusal(path) == (2, expected)


def test_folder_and_pipe_are_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.tflite"
    os.mkfifo(pipe)
    for path in (tmp_path, pipe):
        code, text = _refusal(path)
        assert code == 2
        assert text == f"error[E211] {path}: cannot read the model file: it is not a regular file"


def test_null_character_in_the_path() -> None:
    code, text = _refusal(Path("a\0b"))
    assert code == 2
    assert "a?b: cannot read the model file" in text


def test_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.tflite"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    size = f"{MAX_FILE_BYTES + 1} bytes, up to {MAX_FILE_BYTES}"
    expected = f"error[E305] big.tflite: the file has {size} are imported"
    assert _refusal(path) == (3, expected)


def test_control_characters_of_a_file_name_are_not_printed(tmp_path: Path) -> None:
    assert "\x1b" not in _refusal(written(tmp_path, "a\x1b[31m.tflite", b""))[1]
