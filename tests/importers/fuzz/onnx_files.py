"""Which ONNX mutants there are, and files of that format that attackers would make."""

import random
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.importers.fuzz.beside import OUTSIDE, external, outside
from tests.importers.fuzz.mutants import BOARDS, Mutant
from tests.importers.fuzz.protobuf import filled_field, in_bytes, new_field, of_kind
from tests.importers.onnx import drawn, official, recurrences
from tests.importers.onnx.models import model, node

_MAX_BYTES = 3000


_RECURRENT = (0, 2, 3, 6, 8, 10, 19, 30)
"""LSTM, GRU and RNN, one direction and both, of 16 to 62 steps. One of 293 is imported in 0.05 s, but planned
in 2 s of processor time where the machine was busy, and counted as bad."""

_SEARCHED = (
    "test_conv_with_autopad_same",
    "test_conv_with_strides_no_padding",
)
"""Convolutions by weights that are inputs. They are imported as fast, but the search for an order of their 70
steps takes 1.2 to 1.8 s until its own count ends it: a mutant would be counted as bad as well."""


@cache
def bases() -> tuple[tuple[str, bytes], ...]:
    """Sound models: small official node tests, quantised layers, recurrent ones."""
    tests = official.all_collected()
    chosen = [each for each in tests if each.name not in _SEARCHED]
    read = [(test.name, test.model.SerializeToString()) for test in chosen]
    integers = [(f"integers {seed}", drawn.network(seed).qdq) for seed in range(40)]
    recurrent = [(f"recurrent {seed}", recurrences.drawn(seed).qdq) for seed in _RECURRENT]
    small = [(name, data) for name, data in read if len(data) <= _MAX_BYTES]
    return (*small, *integers, *recurrent)


_CHANGES = (
    filled_field,
    filled_field,
    new_field,
    of_kind("NodeProto"),
    of_kind("NodeProto"),
    of_kind("AttributeProto"),
    of_kind("AttributeProto"),
    of_kind("TensorProto"),
    of_kind("TensorProto"),
    of_kind("Dimension", "TensorShapeProto"),
    of_kind("ValueInfoProto", "Tensor"),
    external,
)


def draw(seed: int, number: int) -> Mutant:
    """Mutant `number` of `seed`."""
    rng = random.Random(f"onnx {seed} {number}")
    base, data = rng.choice(bases())
    if rng.random() < 0.15:
        data, said = in_bytes(data, rng), "bytes"
    else:
        root, names = onnx.ModelProto.FromString(data), list[str]()
        for _ in range(rng.choice((1, 1, 2, 4))):
            change = rng.choice(_CHANGES)
            change(root, rng)
            names.append(change.__name__)
        data, said = root.SerializeToString(), ", ".join(names)
    return Mutant(number=number, base=base, change=said, data=data, board=rng.choice(BOARDS), runs=False)


def _shape(*extents: int) -> np.ndarray:
    return np.array(extents, np.int64)


EMPTY: Any = helper.make_graph([node("Identity", "x", "z")], "g", [], [])


def _nested(depth: int) -> Any:
    results = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)]
    inner = helper.make_graph([node("Relu", "x", "y")], "g", [], results)
    for _ in range(depth):
        branch = node("If", "c", "y", then_branch=inner, else_branch=inner)
        inner = helper.make_graph([branch], "g", [], results)
    return model(*inner.node, constants={"c": np.array(True)})


def _functions(*calls: tuple[str, list[str]], domain: str = "own") -> Any:
    """Functions by name, and what each calls."""
    made = model(helper.make_node(calls[0][0], ["x"], ["y"], domain=domain))
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(domain, 1)]
    for name, called in calls:
        nodes = [helper.make_node(each, ["a"], ["b"], domain=domain) for each in called]
        made.functions.append(helper.make_function(domain, name, ["a"], ["b"], nodes, opsets))
    made.opset_import.append(opsets[1])
    return made


def _external(location: str) -> Any:
    made = model(node("Add", "x k", "y"), constants={"k": np.ones((1, 2, 4, 4), np.float32)})
    outside(made.graph.initializer[0], location, 128)
    return made


def _loop(turns: int) -> Any:
    body = helper.make_graph(
        [node("Identity", "go", "more"), node("Add", "v one", "w")],
        "body",
        [
            helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            helper.make_tensor_value_info("go", onnx.TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, [1, 2, 4, 4]),
        ],
        [
            helper.make_tensor_value_info("more", onnx.TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [1, 2, 4, 4]),
        ],
        [numpy_helper.from_array(np.float32(1).reshape(1), "one")],
    )
    constants = {"n": np.array(turns, np.int64), "t": np.array(True)}
    return model(helper.make_node("Loop", ["n", "t", "x"], ["y"], body=body), constants=constants)


def _huge(extents: tuple[int, ...]) -> Any:
    made = model(node("Add", "x k", "y"))
    tensor = made.graph.initializer.add()
    tensor.name, tensor.data_type = "k", onnx.TensorProto.FLOAT
    tensor.dims.extend(extents)
    return made


def handmade() -> list[tuple[str, bytes]]:
    """Name and file of each."""
    chain = [node("Concat", f"v{i} v{i}", f"v{i + 1}", axis=0) for i in range(60)]
    models: dict[str, Any] = {
        "If in each other, 7 deep": _nested(7),
        "If in each other, 12 deep": _nested(12),
        "a function that calls itself": _functions(("f", ["f"])),
        "two functions in a circle": _functions(("f", ["g"]), ("g", ["f"])),
        "functions that double 40 times": _functions(
            *((f"f{i}", [f"f{i + 1}"] * 2) for i in range(40)), ("f40", [])
        ),
        "a node that reads its own result": model(node("Add", "x y", "y")),
        "two nodes in a circle": model(
            node("Add", "x b", "a"), node("Relu", "a", "b"), node("Neg", "b", "y")
        ),
        "a shape of 2^40": model(node("Expand", "x s", "y"), constants={"s": _shape(1 << 20, 1 << 20, 4, 4)}),
        "ConstantOfShape of 2^40": model(
            node("ConstantOfShape", "s", "k"), node("Add", "x k", "y"), constants={"s": _shape(1 << 40)}
        ),
        "Tile by 2^31": model(node("Tile", "x s", "y"), constants={"s": _shape(1, 1, 1 << 31, 1)}),
        "Pad by 2^31": model(node("Pad", "x s", "y"), constants={"s": _shape(0, 0, 1 << 31, 0, 0, 0, 0, 0)}),
        "Range to 2^62": model(
            node("Range", "a b d", "r"),
            node("Cast", "r", "y", to=1),
            constants={"a": np.array(0), "b": np.array(1 << 62), "d": np.array(1)},
        ),
        "Concat that doubles 60 times": model(node("Identity", "x", "v0"), *chain, output="v60"),
        "a loop of 2^62 turns": _loop(1 << 62),
        "a loop of 100,000 turns": _loop(100_000),
        "a constant of 2^60 without data": _huge((1 << 20, 1 << 20, 1 << 20)),
        "a constant of rank 60": _huge((1,) * 60),
        "a constant with a negative extent": _huge((-1, 4)),
        "an input of 2^62 bytes": model(node("Relu", "x", "y"), x=(1 << 20, 1 << 20, 1 << 20)),
        "an input of rank 40": model(node("Relu", "x", "y"), x=(1,) * 40),
        "ReverseSequence of 32 million": model(
            node("ReverseSequence", "x n", "y"), x=(4096, 8192), constants={"n": np.full(8192, 7, np.int64)}
        ),
        "GatherElements of 8 million": model(
            node("GatherElements", "x i", "y"),
            x=(8, 1 << 20),
            constants={"i": np.zeros((8, 1 << 20), np.int64)},
        ),
        "OneHot of depth 2^40": model(
            node("Cast", "x", "i", to=7),
            node("OneHot", "i d v", "y"),
            constants={"d": np.array(1 << 40), "v": np.array([0, 1], np.float32)},
        ),
        "Resize by 1e9": model(
            node("Resize", "x  s", "y"), constants={"s": np.array([1, 1, 1e9, 1e9], np.float32)}
        ),
        "Resize to 2^20, cubic": model(
            helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="cubic"),
            constants={"s": _shape(1, 2, 4, 1 << 20)},
        ),
        "Trilu of a square of 8,192": model(node("Trilu", "x", "y"), x=(8192, 8192), opset=14),
        "a branch without results": model(
            node("If", "c", "y", then_branch=EMPTY, else_branch=EMPTY), constants={"c": np.array(True)}
        ),
        **{f"external data at {location!r}": _external(location) for location in OUTSIDE},
        "100,000 nodes": model(*[node("Relu", "x", "y")] * 100_000),
    }
    files = [(name, made.SerializeToString()) for name, made in models.items()]
    deep = b""
    for _ in range(3000):  # graphs in attributes of nodes of graphs, by their bytes
        for tag in (b"\x32", b"\x2a", b"\x0a"):
            deep = tag + _varint(len(deep)) + deep
    return [
        *files,
        ("attributes 3,000 deep", b"\x3a" + _varint(len(deep)) + deep),
        ("a length of 2^63", b"\x3a" + b"\xff" * 9 + b"\x01"),
        ("a million empty nodes", b"\x3a" + _varint(2_000_000) + b"\x0a\x00" * 1_000_000),
        ("a million groups", b"\x0b" * 1_000_000),
        ("a million opsets", b"\x42\x00" * 1_000_000),
    ]


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
