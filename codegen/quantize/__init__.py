"""A float ONNX model becomes a quantised one, by onnxruntime's static quantiser (extra `quantize`).

In: a float .onnx file and samples of its inputs. Out: an .onnx file that our importer reads, how far its
outputs are from the float model's, and which layers lose most. Start with `quantizer`.
"""

from codegen.quantize.evaluation import Evaluation, LayerLoss, OutputError
from codegen.quantize.quantizer import Method, Quantized, quantize

__all__ = ["Evaluation", "LayerLoss", "Method", "OutputError", "Quantized", "quantize"]
