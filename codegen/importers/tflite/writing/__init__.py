"""Writes `.tflite` files from a simple description: the shipped example and the tests use it.

In: specs of tensors and operators. Out: bytes. Start with `writer`.
"""
