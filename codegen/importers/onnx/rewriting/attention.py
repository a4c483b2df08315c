"""Attention nodes of onnxruntime, as functions of ONNX's own nodes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.file.records import FileBody
from codegen.importers.onnx.rewriting.body_builder import BodyBuilder
from codegen.importers.reporting import Refused

_HEADS_FIRST = (0, 2, 1, 3)
_NO_CACHE = "export the model without a buffer that past and present share, or with masks of 0 and 1"


@dataclass(kw_only=True)
class _Heads:
    """Queries, keys and values of a node, each `[batch, heads, positions, head size]`."""

    make: BodyBuilder
    batch: int
    heads: int
    queries: int
    """Positions that ask."""
    keys: int
    """Positions that answer."""
    query: str = ""
    key: str = ""
    value: str = ""
    masks: list[str]
    """Terms that are added to the scores."""

    def split(self, name: str, positions: int, width: int) -> str:
        """`[batch, positions, width]` with an axis of heads of its own."""
        if width % self.heads:
            raise Refused("E303", f"{width} channels are no multiple of {self.heads} heads")
        shape = self.make.whole(self.batch, positions, self.heads, width // self.heads)
        return self.make.op("Transpose", self.make.op("Reshape", name, shape), perm=_HEADS_FIRST)

    def add_past(self, key: str, value: str, positions: int) -> None:
        """Put keys and values of earlier calls in front."""
        self.key = self.make.op("Concat", key, self.key, axis=2)
        self.value = self.make.op("Concat", value, self.value, axis=2)
        self.keys += positions

    def add_mask(self, position: int) -> None:
        """Mask the keys that input `position` names: by 0 and 1, by their count, or by end and start."""
        make, shape = self.make, self.make.shape(position)
        name = make.inputs[position]
        if shape in ((self.batch, self.keys), (self.batch, self.queries, self.keys)):
            rows = make.whole(self.batch, 1, *([1] if len(shape) == 2 else []), *shape[1:])
            is_read = make.op("Greater", make.op("Reshape", name, rows), make.constant(_zero(make, position)))
        elif shape == (self.batch,):
            is_read = self._is_before(name)
        elif shape == (2 * self.batch,):
            ends, starts = make.results("Split", 2, name, axis=0, num_outputs=2)
            is_read = make.op("And", self._is_before(ends), make.op("Not", self._is_before(starts)))
        else:
            text = f"a mask of shape {list(shape)} is not supported for {self.queries} queries"
            text += f" and {self.keys} keys of {self.batch} batches"
            raise Refused("E301", text, "export with a mask [batch, keys] of 0 and 1")
        hidden = make.number("mask_filter_value", -10000.0)
        self.masks.append(make.op("Where", is_read, make.real(0.0), make.real(hidden)))

    def _is_before(self, ends: str) -> str:
        """True for keys in front of position `ends` of their batch."""
        places = self.make.constant(np.arange(self.keys, dtype=np.int32))
        return self.make.op("Less", places, self.make.op("Reshape", ends, self.make.whole(-1, 1, 1, 1)))

    def add_order(self) -> None:
        """Mask the keys behind each query, where the node says `unidirectional`."""
        if not self.make.number("unidirectional", 0):
            return
        later = np.arange(self.keys) > np.arange(self.queries)[:, np.newaxis] + self.keys - self.queries
        lowest = np.finfo(np.float32).min
        self.masks.append(self.make.constant(np.where(later, lowest, 0).astype(np.float32)))

    def attended(self, head_size: int) -> str:
        """The values that the queries read, `[batch, queries, channels]`."""
        make = self.make
        scale = make.number("scale", 0.0) or 1.0 / math.sqrt(head_size)
        turned = make.op("Transpose", self.key, perm=(0, 1, 3, 2))
        scores = make.op("MatMul", make.scaled(self.query, scale), turned)
        for mask in self.masks:
            scores = make.op("Add", scores, mask)
        result = make.op("MatMul", make.op("Softmax", scores, axis=-1), self.value)
        joined = make.op("Transpose", result, perm=_HEADS_FIRST)
        return make.op("Reshape", joined, make.whole(self.batch, self.queries, -1))


def _zero(make: BodyBuilder, position: int) -> np.ndarray:
    return np.zeros((), make.element_type(position))


def _refuse(make: BodyBuilder, *names: str) -> None:
    """Raise Refused for an attribute that is not 0."""
    for name in names:
        if make.number(name, 0):
            raise Refused("E301", f"attribute {name} is not supported", _NO_CACHE)


def _refuse_inputs(make: BodyBuilder, names: Mapping[int, str]) -> None:
    for position, name in names.items():
        if make.has(position):
            raise Refused("E301", f"input {position} ({name}) is not supported", _NO_CACHE)


def _three(make: BodyBuilder, position: int, what: str) -> tuple[int, int, int]:
    shape = make.shape(position)
    if len(shape) != 3:
        raise Refused("E303", f"{what} has shape {list(shape)}, it has to be [batch, positions, channels]")
    return (shape[0], shape[1], shape[2])


def _count_of_heads(make: BodyBuilder) -> int:
    heads = int(make.number("num_heads", 0))
    if heads < 1:
        raise Refused("E303", f"attribute num_heads is {heads}")
    return heads


def _projected(
    make: BodyBuilder, value: str, weights: str, mask: int, past: int, scores: int = -1
) -> FileBody:
    """Attention whose node has the weights of queries, keys and values, one behind the other.

    `value` is the input in float32, `mask`, `past` and `scores` positions of inputs.
    """
    batch, positions, _ = _three(make, 0, "the input")
    columns = make.shape(1)[-1]
    widths = [int(width) for width in make.reals("qkv_hidden_sizes")] or [columns // 3] * 3
    if len(widths) != 3 or sum(widths) != columns or widths[0] != widths[1]:
        raise Refused("E303", f"weights of {columns} columns are not those of {widths}")
    heads = _Heads(
        make=make, batch=batch, heads=_count_of_heads(make), queries=positions, keys=positions, masks=[]
    )
    sizes = make.whole(*widths)
    parts = make.results("Split", 3, weights, sizes, axis=1)
    shifts = make.results("Split", 3, "in2", sizes, axis=0) if make.has(2) else ()
    sides = [make.op("MatMul", value, part) for part in parts]
    sides = (
        [make.op("Add", side, shift) for side, shift in zip(sides, shifts, strict=True)] if shifts else sides
    )
    split = [heads.split(side, positions, width) for side, width in zip(sides, widths, strict=True)]
    heads.query, heads.key, heads.value = split
    present: tuple[str, ...] = ()
    if make.has(past):
        halves = make.results("Split", 2, make.inputs[past], axis=0, num_outputs=2)
        before = [make.op("Squeeze", half, make.whole(0)) for half in halves]
        heads.add_past(before[0], before[1], make.shape(past)[3])
    if make.has(past) or make.is_read(1):
        both = [make.op("Unsqueeze", side, make.whole(0)) for side in (heads.key, heads.value)]
        present = (make.op("Concat", *both, axis=0),)
    if make.has(mask):
        heads.add_mask(mask)
    heads.add_order()
    if make.has(scores):
        heads.masks.append(make.inputs[scores])
    return make.body(heads.attended(widths[0] // heads.heads), *present)


def _attention(make: BodyBuilder) -> FileBody:
    _refuse(make, "do_rotary", "past_present_share_buffer", "rotary_embedding_dim")
    _refuse_inputs(make, {6: "past_sequence_length"})
    return _projected(make, "in0", "in1", 3, 4, 5)


def _integer_attention(make: BodyBuilder) -> FileBody:
    """QAttention: integers of input and weights, which become real numbers."""
    _refuse(make, "do_rotary", "past_present_share_buffer")
    value = make.op("DequantizeLinear", "in0", "in3", *(["in6"] if make.has(6) else []))
    zeros = ["in7"] if make.has(7) else []
    weights = make.op("DequantizeLinear", "in1", "in4", *zeros, axis=1)
    return _projected(make, value, weights, 5, 8)


def _multi_head(make: BodyBuilder) -> FileBody:
    _refuse_inputs(make, {8: "past_sequence_length", 9: "cache_indirection"})
    if len(make.shape(0)) == 5 or (make.has(1) and len(make.shape(1)) == 5):
        text = "queries, keys and values packed in one tensor are not supported"
        raise Refused("E301", text, "optimise the model for a CPU, which has them apart")
    batch, positions, width = _three(make, 0, "the query")
    key, value = make.shape(1), make.shape(2)
    heads_first, count = len(key) == 4, _count_of_heads(make)
    keys, value_width = key[-2], value[-1] * (count if heads_first else 1)
    heads = _Heads(make=make, batch=batch, heads=count, queries=positions, keys=keys, masks=[])
    sides = ["in0", "in1", "in2"]
    if make.has(3):
        shifts = list(make.results("Split", 3, "in3", make.whole(width, width, value_width), axis=0))
        if heads_first:
            shifts[1:] = [make.op("Reshape", shift, make.whole(count, 1, -1)) for shift in shifts[1:]]
        sides = [make.op("Add", side, shift) for side, shift in zip(sides, shifts, strict=True)]
    heads.query, heads.key, heads.value = heads.split(sides[0], positions, width), sides[1], sides[2]
    if not heads_first:
        heads.key = heads.split(heads.key, keys, width)
        heads.value = heads.split(heads.value, keys, value_width)
    if make.has(6) and make.has(7):
        heads.add_past("in6", "in7", make.shape(6)[2])
    if make.has(4):
        heads.add_mask(4)
    heads.add_order()
    if make.has(5):
        heads.masks.append("in5")
    return make.body(heads.attended(width // count), heads.key, heads.value)


def _embedding(make: BodyBuilder) -> FileBody:
    """EmbedLayerNormalization: words, positions and segments, summed and normalised."""
    batch, positions = make.shape(0)
    places = "in8" if make.has(8) else make.constant(np.arange(positions)[np.newaxis])
    total = make.op("Add", make.op("Gather", "in2", "in0"), make.op("Gather", "in3", places))
    if make.has(1):
        total = make.op("Add", total, make.op("Gather", "in4", "in1"))
    epsilon = make.number("epsilon", 1e-12)
    normal = make.op("LayerNormalization", total, "in5", "in6", axis=-1, epsilon=epsilon)
    make.number("mask_index_type", 0)
    counts = make.constant(np.zeros(batch, np.int32))
    if make.has(7):
        ones = make.op("Cast", make.op("Equal", "in7", make.constant(np.ones((), np.int32))), to=1)
        counts = make.op("Cast", make.op("ReduceSum", ones, make.whole(1), keepdims=0), to=6)
    return make.body(normal, counts, total)


def _rotary(make: BodyBuilder) -> FileBody:
    """RotaryEmbedding, its positions a list or the first of them."""
    _refuse(make, "is_packed_batching")
    if make.number("scale", 1.0) != 1.0:
        raise Refused("E301", "attribute scale is not supported", "multiply the result by it (Mul)")
    shape, places = make.shape(0), "in1"
    batch, positions = shape[0], shape[-2]
    if make.shape(1) == (1,):
        row = make.op("Add", "in1", make.constant(np.arange(positions)))
        places = make.op("Expand", row, make.whole(batch, positions))
    size = int(make.number("rotary_embedding_dim", 0))
    heads = int(make.number("num_heads", 0))
    heads = heads or (0 if len(shape) == 4 else shape[-1] // (2 * make.shape(2)[-1]))
    return make.body(
        make.op(
            "RotaryEmbedding",
            *("in0", "in2", "in3", places),
            interleaved=int(make.number("interleaved", 0)),
            rotary_embedding_dim=size,
            num_heads=heads,
        )
    )


ATTENTION: Mapping[str, Callable[[BodyBuilder], FileBody]] = MappingProxyType(
    {
        "com.microsoft.Attention": _attention,
        "com.microsoft.EmbedLayerNormalization": _embedding,
        "com.microsoft.MultiHeadAttention": _multi_head,
        "com.microsoft.QAttention": _integer_attention,
        "com.microsoft.RotaryEmbedding": _rotary,
    }
)
"""Bodies of attention nodes and of those around them, by type."""
