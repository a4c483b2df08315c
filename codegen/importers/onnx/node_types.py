"""The node types that are imported, by ONNX's name, and who translates them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from codegen.importers.onnx import arithmetic, arranging, matrices, spatial
from codegen.importers.onnx.composed import COMPOSED, REPEATED, SEQUENCES
from codegen.importers.onnx.file.records import FileNode
from codegen.importers.onnx.integer import NODES
from codegen.importers.onnx.layouts import Stored, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.onnx.plain_scales import PLAIN
from codegen.importers.onnx.rewriting.contributed import CONTRIBUTED
from codegen.importers.onnx.rewriting.functions import defined_types
from codegen.ir.ops import Attrs, SoftmaxAttrs

Translator = Callable[[Site], Value | tuple[Value, ...]]
NodeTranslator = Callable[[Site], Value | Stored | tuple[Value, ...]]

_UNARY = {
    **{"Abs": "ABS", "Ceil": "CEIL", "Cos": "COS", "Exp": "EXP", "Floor": "FLOOR", "HardSwish": "HARD_SWISH"},
    **{
        "Log": "LOG",
        "Neg": "NEG",
        "Relu": "RELU",
        "Round": "ROUND",
        "Sigmoid": "LOGISTIC",
        "Sin": "SIN",
        "Sqrt": "SQRT",
    },
    "Tanh": "TANH",
}

REAL: Mapping[str, Translator] = MappingProxyType(
    {
        **{name: arithmetic.unary(op) for name, op in _UNARY.items()},
        "Add": arithmetic.binary("ADD"),
        "And": arithmetic.logical("MINIMUM"),
        "AveragePool": spatial.average_pool,
        "BatchNormalization": arithmetic.batch_normalization,
        "Cast": arranging.cast,
        "BitCast": arranging.bit_cast,
        "CastLike": arranging.cast_like,
        "Clip": arithmetic.clip,
        "Concat": arranging.concat,
        "Constant": arranging.constant,
        "ConstantOfShape": arranging.constant_of_shape,
        "Conv": spatial.conv,
        "DepthToSpace": arranging.depth_to_space,
        "Div": arithmetic.binary("DIV"),
        "Dropout": arranging.dropout,
        "Elu": arithmetic.elu,
        "Equal": arithmetic.compare("EQUAL"),
        "Expand": arranging.expand,
        "EyeLike": arranging.eye_like,
        "Flatten": arranging.flatten,
        "Gather": arranging.gather,
        "Gemm": matrices.gemm,
        "GlobalAveragePool": arithmetic.whole_image("MEAN"),
        "GlobalMaxPool": arithmetic.whole_image("REDUCE_MAX"),
        "Greater": arithmetic.compare("LESS", swapped=True),
        "GreaterOrEqual": arithmetic.compare("LESS_EQUAL", swapped=True),
        "HardSigmoid": arithmetic.hard_sigmoid,
        "Identity": arranging.same,
        "LeakyRelu": arithmetic.leaky_relu,
        "LogSoftmax": arithmetic.softmax("LOG_SOFTMAX", Attrs()),
        "Less": arithmetic.compare("LESS"),
        "LessOrEqual": arithmetic.compare("LESS_EQUAL"),
        "MatMul": matrices.matmul,
        "Max": arithmetic.several("MAXIMUM"),
        "MaxPool": spatial.max_pool,
        "Min": arithmetic.several("MINIMUM"),
        "Mul": arithmetic.binary("MUL"),
        "Not": arithmetic.logical_not,
        "OptionalGetElement": arranging.same,
        "OptionalHasElement": arranging.has_element,
        "Or": arithmetic.logical("MAXIMUM"),
        "PRelu": arithmetic.prelu,
        "Pad": arranging.pad,
        "Pow": arithmetic.power,
        "Range": arranging.range_,
        "Reciprocal": arithmetic.reciprocal,
        "ReduceMax": arithmetic.reduction("REDUCE_MAX", 18),
        "ReduceMean": arithmetic.reduction("MEAN", 18),
        "ReduceMin": arithmetic.reduction("REDUCE_MIN", 18),
        "ReduceSum": arithmetic.reduction("SUM", 13),
        "Reshape": arranging.reshape,
        "Shape": arranging.shape_of,
        "Size": arranging.size_of,
        "Slice": arranging.slice_,
        "Softmax": arithmetic.softmax("SOFTMAX", SoftmaxAttrs()),
        "SpaceToDepth": arranging.space_to_depth,
        "Split": arranging.split,
        "Squeeze": arranging.squeeze,
        "Sub": arithmetic.binary("SUB"),
        "Sum": arithmetic.several("ADD"),
        "Transpose": arranging.transpose,
        "Unsqueeze": arranging.unsqueeze,
        "Xor": arithmetic.logical("NOT_EQUAL"),
        "Where": arithmetic.where,
        **COMPOSED,
    }
)

"""Nodes that work on real numbers, on shapes, or on any numbers."""

TRANSLATORS: Mapping[str, NodeTranslator] = MappingProxyType({**REAL, **NODES, **PLAIN})
"""All; those of another domain than ONNX's own have it before their name."""


_RANDOM = ("it gives other numbers in each run", "export the model for inference (eval())")
_TEXT = ("text has no type here", "leave it out of the model: prepare text in the application")

NEVER: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "NonMaxSuppression": (
            "how many boxes it selects depends on the data, and sizes are planned before",
            "let the model end in boxes and scores, and select in the application; of `.tflite` files "
            "TFLite_Detection_PostProcess, which gives a fixed number of boxes, is imported",
        ),
        "Unique": (
            "how many values it finds depends on the data, and sizes are planned before",
            "end the model before it, and compute the rest in code of your own",
        ),
        "ImageDecoder": (
            "it reads files of images",
            "let the model begin with pixels, and decode in the application",
        ),
        **dict.fromkeys(("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"), _RANDOM),
        **dict.fromkeys(("RandomUniform", "RandomUniformLike"), _RANDOM),
        "SequenceMap": (
            "a loop carries its sequence, and sizes are planned before",
            "write its body out for each tensor",
        ),
        "ai.onnx.ml.ZipMap": (
            "it gives dictionaries, one a sample",
            "export the scores as a tensor: convert_sklearn(..., options={'zipmap': False})",
        ),
        **dict.fromkeys(
            tuple(f"ai.onnx.ml.{name}" for name in ("LinearClassifier", "LinearRegressor", "SVMClassifier")),
            (
                "models of scikit-learn are no layers here",
                "write coef_ and intercept_ as a Gemm of ONNX (torch.nn.Linear), and take the class as the "
                "largest score",
            ),
        ),
        "com.microsoft.DynamicQuantizeLSTM": (
            "it finds a scale for its input while it runs, of all moments together",
            "leave LSTM in float32: quantize_dynamic(..., op_types_to_quantize=['MatMul', 'Gemm'])",
        ),
        **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"), _TEXT),
        "TfIdfVectorizer": _TEXT,
        **{
            f"ai.onnx.preview.training.{name}": ("it trains", "export the model for inference (eval())")
            for name in ("Adagrad", "Adam", "Gradient", "Momentum")
        },
    }
)
"""Why a node type is not imported, and what to do, where that is no matter of work."""


_OPS = "`codegen ops` lists the node types that are imported"
_INTEGER = (
    "quantise with QDQ nodes of int8 or uint8 (onnxruntime's quantize_static), or export the model in float32"
)


def node_types() -> tuple[str, ...]:
    """ONNX's names of the node types that are translated."""
    return tuple(sorted({*TRANSLATORS, *CONTRIBUTED, *REPEATED, *SEQUENCES, "If"}))


def function_types() -> tuple[str, ...]:
    """Other node types that are imported: as the function of translated nodes by which ONNX defines them.

    Raises CodegenError E313 without the `onnx` package, which has the functions.
    """
    return tuple(sorted({*defined_types()} - {*node_types(), *NEVER}))


def full_name(node: FileNode) -> str:
    """A node's type; one of another domain than ONNX's own has it before its name."""
    return f"{node.domain}.{node.op}" if node.domain else node.op


def is_missing(node: FileNode) -> bool:
    """True if nothing translates nodes of this type."""
    return full_name(node) not in TRANSLATORS


def missing(node: FileNode, opset: int) -> tuple[str, str]:
    """Message and advice about a node type that is not supported."""
    part = f", a part of {node.within}," if node.within else ""
    version = "" if node.domain else f" (opset {opset})"
    text = f"node type {full_name(node)}{version}{part} is not supported"
    if full_name(node) in NEVER:
        reason, advice = NEVER[full_name(node)]
        return f"{text}: {reason}", advice
    return text, _INTEGER if node.op.startswith("QLinear") else _OPS
