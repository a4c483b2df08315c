"""Attention nodes of onnxruntime with random forms of inputs, masks and caches."""

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from tests.importers.onnx.drawn_nodes import Drawn

_MASKS = ("none", "rows", "matrix", "ends", "spans")


def _mask(drawn: Drawn, batch: int, queries: int, keys: int, kinds: tuple[str, ...]) -> np.ndarray | None:
    """A mask that leaves each query at least the first key of its batch."""
    kind = kinds[int(drawn.rng.integers(0, len(kinds)))]
    if kind == "none":
        return None
    if kind in ("rows", "matrix"):
        shape = (batch, keys) if kind == "rows" else (batch, queries, keys)
        mask = drawn.rng.integers(0, 2, shape).astype(np.int32)
        mask[..., 0] = 1
        return mask
    ends = drawn.rng.integers(1, keys + 1, batch).astype(np.int32)
    starts = drawn.rng.integers(0, 1, batch).astype(np.int32)
    return ends if kind == "ends" else np.concatenate([ends, starts])


def _shared(drawn: Drawn) -> tuple[int, int, int, int]:
    """Batch, positions, heads and head size; attributes that attention nodes have alike."""
    batch, heads = (int(extent) for extent in drawn.rng.integers(1, 4, 2))
    positions, size = (int(extent) for extent in drawn.rng.integers(2, 6, 2))
    drawn.attributes["num_heads"] = heads
    drawn.may_say("scale", 0.3)
    drawn.may_say("unidirectional", 1)
    return batch, positions, heads, size


def _attention(drawn: Drawn) -> None:
    batch, positions, heads, size = _shared(drawn)
    has_past = drawn.maybe()
    value_size = size if has_past else int(drawn.rng.integers(1, 5))
    inner, past = int(drawn.rng.integers(1, 7)), 2 if has_past else 0
    drawn.image = (batch, positions, inner)
    width = heads * (2 * size + value_size)
    drawn.give(drawn.normal(inner, width), is_input=drawn.rng.integers(0, 5) == 0)
    drawn.give(drawn.normal(width))
    masks = ("none", "rows", "matrix") if has_past else _MASKS
    drawn.give(_mask(drawn, batch, positions, positions + past, masks), is_input=drawn.maybe())
    drawn.give(drawn.normal(2, batch, heads, past, size) if has_past else None, is_input=True)
    if drawn.maybe() and not has_past:
        shape = (int(drawn.rng.choice([1, batch])), int(drawn.rng.choice([1, heads])))
        drawn.give(drawn.normal(*shape, positions, positions + past))
    if has_past:
        drawn.outputs.append("present")
    if value_size != size or drawn.maybe():
        drawn.attributes["qkv_hidden_sizes"] = [heads * size, heads * size, heads * value_size]


def _integer_attention(drawn: Drawn) -> None:
    batch, positions, heads, size = _shared(drawn)
    inner, width = int(drawn.rng.integers(1, 7)), 3 * heads * size
    weight_kind = np.uint8 if drawn.maybe() else np.int8
    columns = (width,) if drawn.maybe() else ()
    image = drawn.rng.integers(0, 100, (batch, positions, inner)).astype(np.uint8)
    drawn.names, drawn.inputs = ["image"], {"image": image}
    drawn.give(drawn.rng.integers(0, 100, (inner, width)).astype(weight_kind))
    drawn.give(drawn.normal(width))
    drawn.give(np.array(0.03, np.float32))
    drawn.give(drawn.rng.uniform(0.01, 0.03, columns).astype(np.float32))
    drawn.give(_mask(drawn, batch, positions, positions, ("none", "rows", "ends")), is_input=True)
    drawn.give(np.array(30, np.uint8))
    drawn.give(drawn.rng.integers(40, 60, columns).astype(weight_kind) if drawn.maybe() else None)


def _multi_head(drawn: Drawn) -> None:
    batch, positions, heads, size = _shared(drawn)
    by_heads = drawn.maybe()
    keys = positions if "unidirectional" in drawn.attributes else positions + 1
    past = 0 if by_heads else 2 * drawn.maybe()
    value_size = size if by_heads or past else int(drawn.rng.integers(1, 5))
    drawn.image = (batch, positions, heads * size)
    if by_heads:
        drawn.give(drawn.normal(batch, heads, keys, size), is_input=True)
        drawn.give(drawn.normal(batch, heads, keys, value_size), is_input=True)
    else:
        drawn.give(drawn.normal(batch, keys, heads * size), is_input=True)
        drawn.give(drawn.normal(batch, keys, heads * value_size), is_input=True)
    has_bias = not by_heads and drawn.maybe()
    drawn.give(drawn.normal(heads * (2 * size + value_size)) if has_bias else None)
    masks = ("none",) if by_heads else ("none", "rows", "matrix")
    drawn.give(_mask(drawn, batch, positions, keys + past, masks), is_input=True)
    drawn.give(drawn.normal(1, heads, positions, keys + past) if drawn.maybe() else None)
    if past:
        drawn.give(drawn.normal(batch, heads, past, size), is_input=True)
        drawn.give(drawn.normal(batch, heads, past, value_size), is_input=True)
        drawn.outputs += ["present_key", "present_value"]


def _embedding(drawn: Drawn) -> None:
    batch, positions, words, width = drawn.shape(4)
    has_segments = drawn.maybe()
    ids = drawn.rng.integers(0, words, (batch, positions)).astype(np.int32)
    drawn.names, drawn.inputs = ["ids"], {"ids": ids}
    segments = drawn.rng.integers(0, 2, (batch, positions)).astype(np.int32)
    drawn.give(segments if has_segments else None, is_input=True)
    drawn.give(drawn.normal(words, width))
    drawn.give(drawn.normal(positions + 3, width))
    drawn.give(drawn.normal(2, width) if has_segments else None)
    drawn.give(drawn.normal(width))
    drawn.give(drawn.normal(width))
    has_mask = drawn.maybe()
    mask = drawn.rng.integers(0, 2, (batch, positions)).astype(np.int32)
    drawn.give(mask if has_mask else None, is_input=True)
    places = drawn.rng.integers(0, positions + 3, (batch, positions)).astype(np.int32)
    drawn.give(places if drawn.maybe() else None, is_input=True)
    drawn.attributes["epsilon"] = 1e-3
    drawn.outputs.append("counts")
    drawn.kinds["counts"] = TensorProto.INT32
    if drawn.maybe():
        drawn.outputs.append("total")


def _rotary(drawn: Drawn) -> None:
    batch, positions, heads, half = drawn.shape(4)
    by_heads, is_part = drawn.maybe(), drawn.maybe()
    size = 2 * half + (2 if is_part else 0)
    drawn.image = (batch, heads, positions, size) if by_heads else (batch, positions, heads * size)
    if drawn.maybe():
        drawn.give(np.array([2], np.int64), is_input=drawn.maybe())
    else:
        places = drawn.rng.integers(0, positions + 2, (batch, positions))
        drawn.give(places.astype(np.int64), is_input=drawn.maybe())
    drawn.give(drawn.normal(positions + 2, half))
    drawn.give(drawn.normal(positions + 2, half))
    drawn.attributes["interleaved"] = int(drawn.maybe())
    if is_part:
        drawn.attributes |= {"rotary_embedding_dim": 2 * half, "num_heads": heads}


ATTENTION: dict[str, Callable[[Drawn], None]] = {
    "com.microsoft.Attention": _attention,
    "com.microsoft.EmbedLayerNormalization": _embedding,
    "com.microsoft.MultiHeadAttention": _multi_head,
    "com.microsoft.QAttention": _integer_attention,
    "com.microsoft.RotaryEmbedding": _rotary,
}
