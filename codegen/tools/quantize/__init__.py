"""A float ONNX model becomes a quantised one, by onnxruntime's static quantiser (extra `quantize`).

In: a float .onnx file and samples of its inputs. Out: an .onnx file that our importer reads, how far its
outputs are from the float model's, and which layers lose most. Start with `quantizer`.
"""

from codegen.api.tool import ToolDeclaration, Verb

TOOL = ToolDeclaration(
    verbs={
        "quantize": Verb(
            module="codegen.tools.quantize.quantize_verb",
            help="""Quantise a float .onnx file to int8 by onnxruntime's quantiser, and say what that loses.

Needs the packages onnx and onnxruntime (the extra `quantize`). Nothing is written unless codegen imports
the result.""",
        ),
    },
    docs=("guides/quantise.md",),
    extra="quantize",
)
