"""Constants in files beside the model: read where they may be, refused with the reason where not."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from codegen.errors import CodegenError
from codegen.importers import load, model_bytes
from codegen.importers.limits import STATED
from codegen.ir import Module
from codegen.ir.evaluate import evaluate

WEIGHTS = np.arange(12, dtype=np.float32).reshape(4, 3)
ADDED = np.array([5, 6, 7], np.float32)
HELP = (
    "help: keep the model and its data in one folder, or save it as one file (torch.onnx.export: "
    "external_data=False)"
)


def model(**entries: str) -> Any:
    """y = x w + b; w lies where `entries` say, b (a Constant node) in `b.bin`."""
    w, b = numpy_helper.from_array(WEIGHTS, "w"), numpy_helper.from_array(ADDED, "b")
    for tensor, own in ((w, entries), (b, {"location": "b.bin"})):
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in own.items():
            tensor.external_data.add(key=key, value=value)
    nodes = [
        helper.make_node("Constant", [], ["b"], value=b),
        helper.make_node("MatMul", ["x", "w"], ["xw"]),
        helper.make_node("Add", ["xw", "b"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 4])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph(nodes, "g", [x], [y], [w])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def written(folder: Path, **entries: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "m.onnx"
    path.write_bytes(model(**entries).SerializeToString())
    (folder / "b.bin").write_bytes(ADDED.tobytes())
    return path


def outcome(module: Module) -> np.ndarray:
    return evaluate(module, module.main, [np.ones((2, 4), np.float32)])[0]


@pytest.mark.parametrize("lead", [0, 64])
def test_constants_beside_the_model_are_its_own(tmp_path: Path, lead: int) -> None:
    """With offset and length, or without; the hash covers them."""
    entries = (
        {"location": "in/w.bin"} if not lead else {"location": "in/w.bin", "offset": "64", "length": "48"}
    )
    path = written(tmp_path, **entries)
    (tmp_path / "in").mkdir()
    data = tmp_path / "in" / "w.bin"
    data.write_bytes(bytes(lead) + WEIGHTS.tobytes())
    first = load(path)
    np.testing.assert_array_equal(outcome(first), np.ones((2, 4)) @ WEIGHTS + ADDED)
    data.write_bytes(bytes(lead) + (2 * WEIGHTS).tobytes())
    second = load(path)
    np.testing.assert_array_equal(outcome(second), np.ones((2, 4)) @ (2 * WEIGHTS) + ADDED)
    assert first.metadata["sha256"] != second.metadata["sha256"]
    whole = model_bytes(path)
    inside = tmp_path / "elsewhere"
    inside.mkdir()
    (inside / "m.onnx").write_bytes(whole)
    assert load(inside / "m.onnx").metadata["sha256"] == second.metadata["sha256"]
    assert model_bytes(path) == whole, "a worker has no folder beside the model"


def _nothing(folder: Path) -> None:
    del folder


def _link(folder: Path, target: Path) -> None:
    (folder / "w.bin").symlink_to(target)


def _out(folder: Path) -> None:
    (folder.parent / "secret").write_bytes(WEIGHTS.tobytes())
    _link(folder, folder.parent / "secret")


def _out_by_folder(folder: Path) -> None:
    (folder.parent / "w.bin").write_bytes(WEIGHTS.tobytes())
    (folder / "in").symlink_to(folder.parent)


CASES: list[tuple[dict[str, str], Callable[[Path], object], str]] = [
    ({"location": "w.bin"}, _nothing, "lies in w.bin, which cannot be read: No such file or directory"),
    ({}, _nothing, 'lies in "", which is no file in the folder of the model'),
    (
        {"location": "/etc/passwd"},
        _nothing,
        'lies in "/etc/passwd", which is no file in the folder of the model',
    ),
    ({"location": "../w.bin"}, _nothing, 'lies in "../w.bin", which is no file in the folder of the model'),
    ({"location": "in/../../w.bin"}, _nothing, 'lies in "in/../../w.bin", which is no file in the folder'),
    ({"location": "..\\w.bin"}, _nothing, "which is no file in the folder of the model"),
    ({"location": "w.bin\0x"}, _nothing, "which is no file in the folder of the model"),
    ({"location": "w.bin"}, _out, "lies in w.bin, a link that leads out of the folder of the model"),
    (
        {"location": "in/w.bin"},
        _out_by_folder,
        "lies in in/w.bin, a link that leads out of the folder of the model",
    ),
    ({"location": "w.bin"}, lambda f: _link(f, f / "w.bin"), "lies in w.bin, which cannot be read: "),
    ({"location": "w.bin"}, lambda f: _link(f, Path("/dev/zero")), "a link that leads out of the folder"),
    ({"location": "w.bin"}, lambda f: (f / "w.bin").mkdir(), "lies in w.bin, which is not a regular file"),
    ({"location": "w.bin"}, lambda f: os.mkfifo(f / "w.bin"), "lies in w.bin, which is not a regular file"),
    (
        {"location": "w.bin", "offset": "8", "length": "48"},
        lambda f: (f / "w.bin").write_bytes(bytes(50)),
        "is 48 bytes of w.bin from byte 8 on, it has 50\n"
        "help: the file is cut short, or another model's: export the model again",
    ),
    ({"location": "b.bin", "offset": "-4"}, _nothing, 'lies in another file at offset "-4"'),
    ({"location": "b.bin", "length": "1e9"}, _nothing, 'lies in another file at length "1e9"'),
    ({"location": "b.bin", "offset": "9" * 30}, _nothing, 'lies in another file at offset "999'),
]


@pytest.mark.parametrize(("entries", "prepare", "wanted"), CASES)
def test_what_is_refused(
    tmp_path: Path, entries: dict[str, str], prepare: Callable[[Path], object], wanted: str
) -> None:
    path = written(tmp_path / "models", **entries)
    prepare(path.parent)
    with pytest.raises(CodegenError) as caught:
        load(path)
    text = str(caught.value)
    assert text.startswith('error[E314] m.onnx: constant "w" ')
    assert wanted in text
    assert HELP in text or "help: the file is cut short" in text


def test_a_wrong_number_of_bytes_and_too_many(tmp_path: Path) -> None:
    path = written(tmp_path, location="w.bin")
    (tmp_path / "w.bin").write_bytes(bytes(44))
    with pytest.raises(CodegenError, match=r"E303\].*data of constant \"w\" do not fit its type and shape"):
        load(path)
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(STATED.constants + 1)  # a hole: it takes no room
    with pytest.raises(CodegenError, match=rf"E305\].*other files have more than {STATED.constants} bytes"):
        load(path)


def test_lies_of_every_kind_are_told(tmp_path: Path) -> None:
    """Whatever a file says of where its constants are, the answer is a message or a model."""
    rng = np.random.default_rng(11)
    places = [
        "w.bin",
        "b.bin",
        "",
        ".",
        "./b.bin",
        "m.onnx",
        "..",
        "/",
        "a/b",
        "\u202e",
        "w" * 5000,
        "b.bin/",
        "~",
    ]
    numbers = ["0", "1", "12", "48", "-1", "", " 4", "4.0", "0x10", "9" * 18, "9" * 19, "\u0664", "99999999"]
    for _ in range(200):
        chosen = {"location": str(rng.choice(places))}
        for key in ("offset", "length", "checksum"):
            if rng.random() < 0.6:
                chosen[key] = str(rng.choice(numbers))
        path = written(tmp_path, **chosen)
        (tmp_path / "w.bin").write_bytes(WEIGHTS.tobytes())
        try:
            load(path)
        except CodegenError as error:
            assert {message.code for message in error.messages} <= {"E303", "E314"}, chosen
