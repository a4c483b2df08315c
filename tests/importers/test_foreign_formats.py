"""Models as people have them: C arrays are read, every other format gets its own sentence with what to do."""

import io
import zipfile
from pathlib import Path

import pytest

from codegen.driver.inputs.files import existing
from codegen.errors import CodegenError
from codegen.importers import load, model_bytes
from tests.importers.samples import everything

XXD = "unsigned char {name}[] = {{\n{body}\n}};\nunsigned int {name}_len = {count};\n"


def as_array(data: bytes, name: str = "model_tflite") -> str:
    """What `xxd -i` writes."""
    words = [f"0x{byte:02x}" for byte in data]
    rows = [", ".join(words[index : index + 12]) for index in range(0, len(words), 12)]
    return XXD.format(name=name, body="  " + ",\n  ".join(rows), count=len(data))


def refusal(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.write_bytes(data)
    with pytest.raises(CodegenError) as raised:
        load(path)
    return str(raised.value)


def archive(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name in names:
            made.writestr(name, "x")
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "before", "declaration"),
    [
        ("model.h", "", "unsigned char model_tflite[] = {"),
        (
            "model_data.cc",
            '#include "model.h"\n// [1] = { 2 }\n',
            "alignas(16) const unsigned char g_model[] = {",
        ),
        ("model.c", "/* {0x00} */\n", "const uint8_t model[1024] __attribute__((aligned(4))) = {"),
        ("sketch.ino", "int pins[] = {1, 2, 3};\n", "const unsigned char net[] PROGMEM = {"),
    ],
)
def test_a_c_array_is_the_model_that_it_holds(
    tmp_path: Path, name: str, before: str, declaration: str
) -> None:
    data = everything()
    text = before + as_array(data).replace("unsigned char model_tflite[] = {", declaration)
    (tmp_path / name).write_text(text)
    assert model_bytes(tmp_path / name) == data
    assert load(tmp_path / name).main.body == load(_written(tmp_path / "m.tflite", data)).main.body


def test_numbers_may_be_decimal_and_negative(tmp_path: Path) -> None:
    data = everything()
    words = ", ".join(str(byte - 256 if byte > 127 else byte) for byte in data)
    (tmp_path / "m.cpp").write_text(f"const int8_t m[] = {{{words}}};\n")
    assert model_bytes(tmp_path / "m.cpp") == data


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_c_files_without_a_model(tmp_path: Path) -> None:
    assert refusal(tmp_path, "model.h", b"extern const unsigned char g_model[];\n") == (
        "error[E300] model.h: this C file holds no array of bytes: it may only declare the model\n"
        "help: give the file with the numbers (often model_data.cc), or the .tflite or .onnx file itself"
    )
    table = f"const int8_t sines[] = {{{', '.join(map(str, range(1, 40)))}}};\n"
    assert refusal(tmp_path, "table.c", table.encode()) == (
        "error[E300] table.c: no array in this C file is a .tflite or .onnx file; its arrays are sines\n"
        "help: `xxd -i model.tflite > model.h` writes one; or give the .tflite or .onnx file itself"
    )
    two = as_array(everything(), "a") + as_array(everything(), "b")
    assert refusal(tmp_path, "two.h", two.encode()) == (
        "error[E300] two.h: it holds 2 models: a, b\nhelp: leave one array in the file"
    )


@pytest.mark.parametrize(
    ("name", "data", "said", "advice"),
    [
        ("m.tflite", b"\n<!DOCTYPE html><html>", "this is an HTML page, not a model", "Download raw file"),
        ("m.onnx", b"<html><head>", "this is an HTML page, not a model", "/resolve/ in place of /blob/"),
        ("m.onnx", b"version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer", "git lfs pull"),
        ("m.zip", archive("a/net.tflite"), "a zip archive; in it is a/net.tflite", "`unzip m.zip`"),
        ("m.zip", archive("readme.txt"), "no .tflite or .onnx file is in it", "give a .tflite file"),
        (
            "m.keras",
            archive("config.json", "model.weights.h5"),
            "this is a Keras model",
            "load_model('m.keras')",
        ),
        ("m.h5", b"\x89HDF\r\n\x1a\nabc", "a Keras model (HDF5)", "from_keras_model"),
        ("m.pt", archive("m/data.pkl", "m/version"), "a PyTorch model or its weights", "torch.onnx.export"),
        ("pytorch_model.bin", archive("m/data.pkl"), "a PyTorch model or its weights", "torch.onnx.export"),
        ("m.pth", b"\x80\x02}q", "a Python object (pickle)", "torch.onnx.export"),
        ("m.pte", b"\x40\0\0\0ET12abcd", "an ExecuTorch program", "torch.onnx.export"),
        ("saved_model.pb", b"\x08\x01\x12\x03", "a TensorFlow graph", "from_saved_model"),
        (
            "m.engine",
            b"ftrt\0\0",
            "a TensorRT engine, compiled for one GPU",
            "export the model that it was made",
        ),
        ("m.plan", b"anything", "a TensorRT engine", "export the model"),
        ("m.safetensors", b"\x08\0\0\0\0\0\0\0{}", "weights without a network", "export that"),
        ("x.npz", archive("x0.npy"), "weights without a network", "load them into the network"),
        ("m.tar.gz", b"\x1f\x8b\x08", "a compressed archive", "unpack it"),
        ("m.xml", b'<?xml version="1.0"?><Error>', "an XML file", "download the file once more"),
        ("train.py", b"import torch", "a Python program", "it may write the model"),
        ("firmware.elf", b"\x7fELF\x01", "an ELF file", "give the model"),
        ("cat.png", b"\x89PNG\r\n", "a picture or sound", "--input"),
    ],
)
def test_every_format_has_its_sentence(
    tmp_path: Path, name: str, data: bytes, said: str, advice: str
) -> None:
    text = refusal(tmp_path, name, data)
    first, help_ = text.split("\nhelp: ")
    assert first.startswith(f"error[E300] {name}: ") and said in first
    assert advice in help_ and "{" not in help_.replace("{}", "")


def test_folders_say_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").touch()
    (tmp_path / "net.tflite").touch()
    with pytest.raises(CodegenError) as raised:
        existing(tmp_path / "saved")
    assert str(raised.value) == (
        f"error[E204] {tmp_path}/saved is a SavedModel folder of TensorFlow\n"
        "help: convert it in Python: write "
        f"`tf.lite.TFLiteConverter.from_saved_model('{tmp_path}/saved').convert()` to a .tflite file"
    )
    with pytest.raises(CodegenError) as raised:
        existing(tmp_path)
    assert str(raised.value) == (
        f"error[E204] {tmp_path} is a folder\n"
        f"help: did you mean {tmp_path}/net.tflite? give the path of a .tflite or .onnx file"
    )
