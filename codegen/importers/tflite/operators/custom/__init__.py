"""Custom operators that TFLM registers: their options are a map in flexbuffers.

In: a `Site`, as for other operators. Out: `Translated`. Start with `custom_options`, then `signal`.
"""
