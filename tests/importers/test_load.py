"""`load`: which files it takes, and what it says about others.
Names of graph inputs in C, and names in messages.
"""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.errors import CodegenError
from codegen.importers import imported_ops, load
from codegen.importers.limits import RAISE, STATED
from codegen.importers.printable_names import identifiers, printable
from codegen.importers.tflite import import_tflite
from tests.importers.samples import chain, everything, written
from tests.networks import NAMES, model_path


def _refusal(path: Path) -> tuple[int, str]:
    with pytest.raises(CodegenError) as caught:
        load(path)
    return int(caught.value.exit_code), str(caught.value)


def test_extension_does_not_matter_for_a_tflite_file(tmp_path: Path) -> None:
    module = load(written(tmp_path, "model.bin", everything()))
    assert module.metadata["file"] == "model.bin"


HELP = (
    "help: give a .tflite file (TensorFlow: tf.lite.TFLiteConverter; PyTorch: ai-edge-torch) or an .onnx "
    "file (PyTorch: torch.onnx.export)"
)
FORMATS = "only ONNX and TensorFlow Lite models can"


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
            "m.keras",
            b"PK\x03\x04abcdefgh",
            "error[E300] m.keras: this is a zip archive that cannot be read\n"
            "help: download it once more: the archive is cut off or damaged",
        ),
        (
            "m.xyz",
            b"abcdefgh",
            f"error[E300] m.xyz: the file's format is not known: {FORMATS} be imported\n{HELP}",
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
        file.truncate(STATED.constants + 1)
    size = f"{STATED.constants + 1} bytes, up to {STATED.constants}"
    expected = f"error[E305] big.tflite: the file has {size} are imported\nhelp: {RAISE}"
    assert _refusal(path) == (3, expected)


def test_control_characters_of_a_file_name_are_not_printed(tmp_path: Path) -> None:
    assert "\x1b" not in _refusal(written(tmp_path, "a\x1b[31m.tflite", b""))[1]


@pytest.mark.parametrize("name", [name for name in NAMES if "uint8" not in name])
@pytest.mark.sampled(8)
def test_names_are_unlike_and_lead_back_to_the_file(name: str) -> None:
    """uint8 networks have further steps: what turns their inputs to int8 and back."""
    main = load(model_path(name)).main
    names = [var.name for var in main.variables()]
    assert len(set(names)) == len(names)
    for number, let in enumerate(main.body):
        assert let.var.name == f"{let.call.op.short}{number}"
        assert let.source is not None
        assert let.source.op_index == number
        assert let.var.origin == printable(let.source.tensor_name) != ""


def test_every_unsupported_operator_of_a_model_is_listed() -> None:
    operators = ["RELU", "UNIQUE", "TANH", "POW", "UNIQUE", "SIGN", "UNIQUE", "WHERE", "POW", "UNIQUE"]
    unsupported = sum(name not in imported_ops() for name in operators)
    names = ["x", *(f"t{place}" for place in range(1, len(operators))), "y"]
    data = chain(*((name, [names[n]], [names[n + 1]]) for n, name in enumerate(operators)))
    with pytest.raises(CodegenError) as caught:
        import_tflite(data, "m.tflite")
    refused = {
        place
        for message in caught.value.messages
        if message.code == "E301" and "is not supported" in message.text
        for place in message.places or (message.where,)
    }
    assert unsupported == 8
    assert len(refused) == unsupported


STEMS = ("conv", "add")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("serving_default_input_1:0", "input_1"),
        ("input_1", "input_1"),
        ("Reshape_1", "Reshape_1"),
        ("a/b.c", "a_b_c"),
        ("7up", "x_7up"),
        ("int", "x_int"),
        ("class", "x_class"),
        ("conv0", "x_conv0"),
        ("conv0_1", "x_conv0_1"),
        ("convex0", "convex0"),
        ("", "input0"),
        ("éà", "input0"),
        ("model/unet_0/encoder_4/conv2d_3x4_a/conv/concat", "conv2d_3x4_a_conv_concat"),
        ("x" * 50, "x" * 32),
    ],
)
def test_identifier(name: str, expected: str) -> None:
    assert identifiers([name], STEMS) == (expected,)


def test_names_that_fall_together_are_numbered() -> None:
    assert identifiers(["a:0", "a", "A", "x" * 40, "x" * 41], STEMS) == (
        "a",
        "a_2",
        "A_3",
        "x" * 32,
        "x" * 30 + "_2",
    )


@given(st.lists(st.text(max_size=50), max_size=6))
def test_identifiers_are_valid_and_unlike(names: list[str]) -> None:
    found = identifiers(names, STEMS)
    assert len(found) == len(names)
    assert len({name.upper() for name in found}) == len(found)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,31}", name) for name in found)
    assert not any(re.fullmatch(r"(conv|add)\d+(_\d+)?", name) for name in found)


def test_printable_text() -> None:
    assert printable("a\x1b[2Jb\n") == "a?[2Jb?"
    assert printable("é") == "é"
    assert printable("x" * 300) == "x" * 199 + "…"
