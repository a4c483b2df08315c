"""The file itself: messages, taken apart by the `onnx` package, become bounded plain records.

In: bytes. Out: `FileGraph` (`records`), its nodes in an order of execution (`node_order`). Start with
`reader`; `beside` brings in constants that lie in other files.
"""
