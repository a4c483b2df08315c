"""The verb `quantize`: a float .onnx file in, a quantised one out, and what that loses."""
