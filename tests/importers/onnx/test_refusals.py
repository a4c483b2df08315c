"""The text of every message about an ONNX file, and that nothing is ignored without a word."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from codegen.errors import CodegenError
from codegen.importers.limits import byte_limits
from codegen.importers.onnx import import_onnx
from codegen.ir.verify import verify
from tests.importers.fuzz import onnx_files
from tests.importers.onnx.models import complaint, imported, model, node

OPS = "help: `codegen ops` lists the node types that are imported"


def test_everything_unsupported_is_told_at_once(tmp_path: Path) -> None:
    made = model(
        node("MaxRoiPool", "x x", "a"),
        node("Relu", "a", "b"),
        helper.make_node("QLinearReduceMean", ["x"], ["d"], domain="com.microsoft"),
        node("LpPool", "x", "e", kernel_shape=[2, 2], p=65),
        node("Add", "b d", "y"),
    )
    integer = (
        "help: quantise with QDQ nodes of int8 or uint8 (onnxruntime's quantize_static), or export the model "
        "in float32"
    )
    assert complaint(tmp_path, made).split("\n") == [
        'error[E301] op 0 MaxRoiPool "a": node type MaxRoiPool (opset 13) is not supported',
        OPS,
        'error[E301] op 2 QLinearReduceMean "d": node type com.microsoft.QLinearReduceMean is not supported',
        integer,
        'error[E301] op 3 LpPool "e": p = 65 is not supported, 1 to 64 are',
    ]


@pytest.mark.parametrize(
    ("op", "reason", "advice"),
    [
        (
            "NonMaxSuppression",
            "how many boxes it selects depends on the data, and sizes are planned before",
            "let the model end in boxes and scores, and select in the application; of `.tflite` files "
            "TFLite_Detection_PostProcess, which gives a fixed number of boxes, is imported",
        ),
        (
            "Unique",
            "how many values it finds depends on the data, and sizes are planned before",
            "end the model before it, and compute the rest in code of your own",
        ),
        (
            "ImageDecoder",
            "it reads files of images",
            "let the model begin with pixels, and decode in the application",
        ),
        ("RandomNormalLike", "it gives other numbers in each run", "export the model for inference (eval())"),
        (
            "StringNormalizer",
            "text has no type here",
            "leave it out of the model: prepare text in the application",
        ),
    ],
)
def test_why_a_node_type_is_never_imported(tmp_path: Path, op: str, reason: str, advice: str) -> None:
    assert complaint(tmp_path, model(node(op, "x", "y"), opset=20)) == (
        f'error[E301] op 0 {op} "y": node type {op} (opset 20) is not supported: {reason}\nhelp: {advice}'
    )


def test_an_attribute_that_nobody_reads_is_told(tmp_path: Path) -> None:
    made = model(node("Relu", "x", "y", slope=2))
    assert complaint(tmp_path, made) == 'error[E301] op 0 Relu "y": attribute slope is not supported here'


def test_weights_that_the_model_computes(tmp_path: Path) -> None:
    made = model(node("ConvTranspose", "x x", "y"))
    assert complaint(tmp_path, made) == (
        'error[E301] op 0 ConvTranspose "y": "x" (the weights) is computed while the model runs\n'
        "help: export the model with fixed shapes, so that this is a constant"
    )


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (b"\xff" * 40, "error[E302] m.onnx: this is not an ONNX file, or it is damaged: its protobuf"),
        (b"\x08\x07", "error[E302] m.onnx: this is not an ONNX file: it has neither a graph nor an opset"),
        (model(node("Add", "x x", "y"), opset=5), "uses opset 5, supported are 7 to "),
        (model(node("Add", "x x", "y"), opset=-(2**40)), "uses opset -1099511627776, supported are 7 to "),
        (model(node("Relu", "z", "y")), 'error[E303] op 0 Relu "y": reads "z", which has no value: no node'),
        (model(node("Relu", "x", "x")), 'error[E303] op 0 Relu "x": computes a value that has one already'),
        (model(node("Relu", "x", "y"), x=(1, "n")), "only the first extent may be unknown"),
        (model(node("Relu", "x", "z")), 'error[E303] graph output 0 "y": no node computes it'),
        (
            model(
                node("GridSample", "x g", "y"), opset=16, constants={"g": np.zeros((1, 2, 2, 3), np.float32)}
            ),
            "a grid [1, 2, 2, 3] does not fit an image",
        ),
        (model(node("DFT", "x", "y", axis=-1), opset=17), "the last is real and imaginary"),
        # Two mutants of the fuzz (seed 20000) were tracebacks: an axis that is told twice, from the front and
        # from the back, and a real number that is meant as an integer, which was cut off where it was none.
        (
            model(node("Unsqueeze", "x a", "y"), constants={"a": np.array([4, -2])}),
            'error[E303] op 0 Unsqueeze "y": the list of axes [4, -2] names one twice',
        ),
        (
            model(
                node("DequantizeLinear", "w s z", "r"),
                node("Add", "x r", "y"),
                constants={
                    "w": np.array([0.5, np.nan], np.float32),
                    "s": np.array(1, np.float32),
                    "z": np.array(0, np.int8),
                },
            ),
            'error[E301] op 0 DequantizeLinear "r": integers of type float32 are not supported',
        ),
        (
            model(
                node("Cast", "x", "b", to=TensorProto.UINT8),
                helper.make_node("ConvInteger", ["b", "w", "", "z"], ["i"]),
                node("Cast", "i", "y", to=TensorProto.FLOAT),
                constants={"w": np.ones((2, 2, 1, 1), np.uint8), "z": np.ones(3, np.uint8)},
            ),
            "zero points [3] of 2 output channels",
        ),
        (
            model(
                node(
                    "FlexAttention",
                    "x x x",
                    "y",
                    domain="ai.onnx.preview",
                    score_mod=helper.make_graph(
                        [node("Add", "s x", "o")],
                        "b",
                        [helper.make_tensor_value_info("s", TensorProto.FLOAT, None)],
                        [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)],
                    ),
                ),
                opset=26,
            ),
            'its graph reads "x" from outside, supported is what it is given',
        ),
        (model(node("Range", "x x x", "y")), '"x" (the start) is computed while the model runs'),
        (model(node("EyeLike", "x", "y")), "needs a matrix"),
        (
            model(
                node("Upsample", "x s", "y", mode="linear"), opset=9, constants={"s": np.ones(4, np.float32)}
            ),
            "mode linear is not supported",
        ),
        (
            model(
                node(
                    "TfIdfVectorizer",
                    "x",
                    "y",
                    mode="TF",
                    min_gram_length=1,
                    max_gram_length=1,
                    max_skip_count=0,
                    ngram_counts=[0],
                    ngram_indexes=[0, 1],
                    pool_int64s=[5],
                ),
                x=(1, 4),
            ),
            "1 sequences with 2 indices",
        ),
        (
            model(node("Det", "x", "y"), x=(1, 5, 5), opset=22),
            "matrices of 5 rows are not supported, up to 4",
        ),
        (model(node("Det", "x", "y"), x=(1, 2, 3), opset=22), "needs square matrices"),
        (
            model(
                node("RoiAlign", "x r b", "y"),
                opset=16,
                constants={"r": np.zeros((1, 4), np.float32), "b": np.zeros(1, np.int64)},
            ),
            "a sampling_ratio of 0",
        ),
        (
            model(
                node("RoiAlign", "x r b", "y", sampling_ratio=1),
                opset=16,
                constants={"r": np.zeros((1, 4), np.float32), "b": np.ones(1, np.int64)},
            ),
            "a region of an image beyond 1",
        ),
        (
            model(node("QuantizeLinear", "x s", "y"), constants={"s": np.ones(3, np.float32)}),
            "scales [3] do not fit axis 1",
        ),
        (
            model(
                node("QuantizeLinear", "x s z", "y"),
                constants={"s": np.ones((), np.float32), "z": np.zeros((), np.int32)},
            ),
            "a result of type int32 is not supported",
        ),
        (
            model(
                node("QuantizeLinear", "x s", "y", block_size=2),
                opset=21,
                constants={"s": np.ones((1, 3, 4, 4), np.float32)},
            ),
            "blocks of 2 of",
        ),
        (
            model(node("Add", "x w", "y"), constants={"w": np.zeros(3, np.float64)}),
            "works on float32 and float64",
        ),
        (model(node("Relu", "x", "y"), x=(1, 1 << 30)), "error[E305]"),
        # A mutant of the fuzz (seed 61000): a traceback, as other single numbers that are none.
        (
            model(
                node("Pad", "x p v", "y"),
                constants={"p": np.zeros(8, np.int64), "v": np.zeros(0, np.float32)},
            ),
            "the value is float32[0], it has to be one number",
        ),
        (
            model(
                node("Cast", "x", "i", to=TensorProto.INT32),
                node("OneHot", "i d v", "y"),
                constants={"d": np.array(np.nan, np.float32), "v": np.array([0, 1], np.float32)},
            ),
            "the depth is nan, it has to be an integer",
        ),
        # Mutants of seeds 70001 and 70002: tracebacks.
        (
            model(
                helper.make_node("Resize", ["x", "", "", "s"], ["y"]),
                constants={"s": np.array([1, 2, 8], np.int64)},
            ),
            "sizes [1, 2, 8] do not fit [1, 2, 4, 4]",
        ),
        (
            model(
                node("InstanceNormalization", "x c c", "y"), x=(4,), constants={"c": np.ones(4, np.float32)}
            ),
            "a value [4] has no axes behind its channels",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_and_contradictory_files(tmp_path: Path, made: object, text: str) -> None:
    assert text in complaint(tmp_path, made)


def test_values_are_counted_together(tmp_path: Path) -> None:
    """Bytes of all values, and pixels of all images: 64 of 2^18, and 512 of the input, whose rows and columns
    are still its last two dimensions."""
    large = complaint(tmp_path, model(node("Relu", "x", "a"), node("Neg", "a", "y"), x=(1, 225, 256, 256)))
    assert "have 117,964,800 bytes together with this one, up to 117,440,512 are imported" in large
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    chain = [node("MaxPool", f"v{n}" if n else "x", f"v{n + 1}", **window) for n in range(64)]
    many = complaint(tmp_path, model(*chain, x=(1, 1, 512, 512), output="v64"))
    assert "images that are inputs or computed have 16,777,728 pixels together with this one" in many
    assert "up to 16,777,216 are imported" in many


def test_images_of_detectors_are_imported(tmp_path: Path) -> None:
    """640 x 640 pixels were more than the 262,144 that were imported; of larger ones the limit is told."""
    layer = node("MaxPool", "x", "y", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    assert imported(tmp_path, model(layer, x=(1, 3, 640, 640))).main.body
    assert imported(tmp_path, model(layer, x=(1, 1, 1024, 1024))).main.body
    large = complaint(tmp_path, model(layer, x=(1, 1, 1024, 1025)))
    assert "an image of 1,024 x 1,025 pixels, up to 1,048,576 pixels and 65,536 rows or columns" in large


def test_constants_that_grow_are_stopped(tmp_path: Path) -> None:
    """Numbers made of numbers: counted before they are made."""
    wide, tall = np.ones((1, 1 << 16), np.int64), np.ones((1 << 16, 1), np.int64)
    made = model(node("Mul", "a b", "c"), node("Relu", "x", "y"), constants={"a": wide, "b": tall})
    assert "makes constants of more than" in complaint(tmp_path, made)


def test_mutants_are_imported_or_refused() -> None:
    """Bytes changed at random: a message or a module that holds, never a traceback."""
    rng = random.Random(17)
    files = [data for _, data in onnx_files.bases()]
    refused = 0
    for _ in range(1_500):
        data = bytearray(rng.choice(files))
        for _ in range(rng.choice((1, 1, 2, 4))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            verify(import_onnx(bytes(data), "m.onnx"))
        except CodegenError as error:
            refused += 1
            assert all(message.code.startswith("E30") for message in error.messages)
    assert 0 < refused < 1_500


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    data = model(node("Bad", "x", "y")).SerializeToString().replace(b"Bad", b"B\xffd")
    assert complaint(tmp_path, data).startswith(
        'error[E301] op 0 B\ufffdd "y": node type B\ufffdd (opset 13)'
    )


def test_data_outside_the_file_are_not_there_for_bytes_alone() -> None:
    """Who has bytes and no folder (tests/importers/onnx/file has the others) is told so."""
    made = model(node("Add", "x w", "y"), constants={"w": np.zeros(4, np.float32)})
    made.graph.initializer[0].data_location = TensorProto.EXTERNAL
    made.graph.initializer[0].external_data.add(key="location", value="w.bin")
    with pytest.raises(CodegenError) as caught:
        import_onnx(made.SerializeToString(), "m.onnx")
    assert str(caught.value) == (
        'error[E314] m.onnx: constant "w" lies in another file, and there is only this one'
    )


def test_data_that_do_not_fit_their_shape(tmp_path: Path) -> None:
    made = model(node("Add", "x w", "y"), constants={"w": np.zeros(4, np.float32)})
    made.graph.initializer[0].dims[0] = 1 << 20
    assert 'error[E303] m.onnx: the data of constant "w" do not fit' in complaint(tmp_path, made)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(node("Relu", "x", "y"))
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert complaint(tmp_path, made) == (
        "error[E313] m.onnx: the package `onnx` is not installed: it is needed to read ONNX files\n"
        f'help: {sys.executable} -m pip install "onnx>=1.17"'
    )


def test_a_limit_holds_for_what_is_left_in_float_too(tmp_path: Path) -> None:
    """Integer steps that met the limit of bytes were given up for steps of float32, four times as large, for
    which nobody asked again: a mutant of the fuzz (seed 31000) was planned in 201 MB."""
    made = model(
        node("QuantizeLinear", "x s z", "q"),
        node("DequantizeLinear", "q s z", "r"),
        node("LeakyRelu", "r", "l", alpha=0.5),
        node("QuantizeLinear", "l s z", "p"),
        node("DequantizeLinear", "p s z", "y"),
        x=(1, 1 << 24),
        constants={"s": np.array(0.1, np.float32), "z": np.array(0, np.int8)},
    )
    limits = byte_limits((1 << 24) * 5 + 1000)  # x and q, no more
    with pytest.raises(CodegenError) as caught:
        import_onnx(made.SerializeToString(), "m.onnx", limits=limits)
    text = str(caught.value)
    assert "error[E305]" in text and "150,994,944 bytes together with this one" in text


def test_a_limit_holds_for_an_input_of_the_other_sign(tmp_path: Path) -> None:
    """Bytes of uint8 are looked up as int8 at once; that step met the limit outside of any node: a traceback
    (mutant of the fuzz, seed 61000)."""
    scale = {"s": np.array(0.1, np.float32), "z": np.array(0, np.uint8)}
    made = model(node("DequantizeLinear", "x s z", "y"), x=(1, 1 << 26), constants=scale)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    text = complaint(tmp_path, made)
    assert text.startswith(
        'error[E305] graph input 0 "x": the inputs and what operators compute have 134,217,728 '
    )


def test_nodes_that_only_move_what_the_other_moves_are_told(tmp_path: Path) -> None:
    """Who looked through such nodes for a DequantizeLinear went round for ever (mutant of the fuzz, seed
    63000): the file took more than its two seconds."""
    shape = {"s": np.array([1, 2, 4, 4], np.int64)}
    made = model(
        node("Reshape", "b s", "a"), node("Reshape", "a s", "b"), node("Relu", "a", "y"), constants=shape
    )
    assert complaint(tmp_path, made).split("\n")[0] == (
        'error[E303] op 0 Reshape "a": reads "b", which has no value: no node before this one computes it'
    )


def test_constants_as_a_type_that_is_none(tmp_path: Path) -> None:
    """A mutant ended in a traceback of NumPy: only computed values were checked."""
    made = model(
        node("Cast", "k", "a", to=64), node("Add", "x a", "y"), constants={"k": np.ones(4, np.float32)}
    )
    assert complaint(tmp_path, made) == 'error[E301] op 0 Cast "a": type number 64 is not supported'


def test_indices_that_are_not_whole_numbers(tmp_path: Path) -> None:
    """A constant NaN as index became a warning of NumPy and some element."""
    made = model(node("Gather", "x k", "y", axis=1), constants={"k": np.array([np.nan], np.float32)})
    text = 'error[E303] op 0 Gather "y": indices are float32, they have to be whole numbers'
    assert complaint(tmp_path, made) == text
