"""Changes to a TFLite file: of what it says (on its tables) and of how it says it (on its bytes)."""

import random
import struct
from collections.abc import Callable
from typing import cast

from codegen.importers.tflite.file.flatbuffer import OPTIONS, Scalar, Scalars
from tests.importers.fuzz.tree import Node, Sites, Vector, encode, parse

OPTION_NUMBERS = (0, -1, 1 << 15, (1 << 31) - 1)
"""What every integer option is set to."""

_NUMBERS = (
    *OPTION_NUMBERS,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    255,
    256,
    1000,
    65535,
    65536,
    100_000,
    1 << 24,
    -2,
    -(1 << 31),
)
_FLOATS = (0.0, -0.0, 1e-45, 1e-38, 1e-20, 1e-6, 0.5, 1.0, 1e6, 1e20, 3.4e38, -1.0)
_FLOATS_BEYOND = (float("inf"), float("-inf"), float("nan"))
_NAMES = (
    "",
    "a" * 70_000,
    "requires",
    "int",
    "conv0",
    "x/y:0",
    "\x1b[31m",
    "ä" * 40,
    "serving_default_x:0",
    "_",
    "9",
)

GRAPH, CODES, BUFFERS = 2, 1, 4
TENSORS, INPUTS, OUTPUTS, OPERATORS = 0, 1, 2, 3

Change = Callable[[Node, random.Random], None]


def _graph(root: Node) -> Node:
    return root.nodes(GRAPH)[0]


def _number(rng: random.Random, size_bytes: int) -> bytes:
    """A number of that many bytes: small, at an edge, or any."""
    value = rng.choice(_NUMBERS) if rng.random() < 0.8 else rng.randrange(1 << 32)
    return (value & ((1 << 8 * size_bytes) - 1)).to_bytes(size_bytes, "little")


def _float(rng: random.Random) -> bytes:
    choices = _FLOATS_BEYOND if rng.random() < 0.15 else _FLOATS
    return struct.pack("<f", rng.choice(choices) if rng.random() < 0.7 else 2.0 ** rng.uniform(-40, 20))


def _pick(rng: random.Random, nodes: list[Node]) -> Node:
    return rng.choice(nodes) if nodes else Node(None)


def _operator(root: Node, rng: random.Random) -> Node:
    return _pick(rng, _graph(root).nodes(OPERATORS))


def _tensor(root: Node, rng: random.Random) -> Node:
    return _pick(rng, _graph(root).nodes(TENSORS))


def _index(rng: random.Random, count: int) -> bytes:
    """A number of one of `count` things, now and then of none."""
    value = rng.randrange(count) if count and rng.random() < 0.85 else rng.choice((-1, count, 1 << 30))
    return struct.pack("<i", value)


def option_field(root: Node, rng: random.Random) -> None:
    """One field of one operator's options."""
    options = _operator(root, rng).node(4)
    if options is None or options.layout is None or not options.layout.fields:
        return
    number, (_, kind) = rng.choice(list(options.layout.fields.items()))
    if isinstance(kind, Scalar):
        if kind.size_bytes == 4 and options.layout.name in ("SoftmaxOptions", "LeakyReluOptions"):
            options.fields[number] = _float(rng)
        else:
            value = rng.choice((*OPTION_NUMBERS, 1, 2, 3))
            mask = (1 << 8 * kind.size_bytes) - 1
            options.fields[number] = (value & mask).to_bytes(kind.size_bytes, "little")
    elif isinstance(kind, Scalars):
        _vector(options.fields.setdefault(number, Vector(kind.size_bytes, bytearray())), rng)


def option_type(root: Node, rng: random.Random) -> None:
    """The options of another operator, or another tag."""
    operator = _operator(root, rng)
    kind = rng.choice([0, 100, 255, *OPTIONS])
    operator.fields[3] = bytes([kind])
    if rng.random() < 0.6:
        operator.fields[4] = Node(OPTIONS.get(kind))
    elif rng.random() < 0.3:
        operator.fields.pop(4, None)


def operator_code(root: Node, rng: random.Random) -> None:
    """Another operator."""
    codes = root.nodes(CODES)
    if rng.random() < 0.5:
        _operator(root, rng).fields[0] = struct.pack("<I", rng.randrange(len(codes) + 1))
        return
    code = _pick(rng, codes)
    number = rng.randrange(128)
    code.fields[0], code.fields[3] = bytes([number]), struct.pack("<i", number)


def operands(root: Node, rng: random.Random) -> None:
    """Inputs and outputs of an operator or the graph: others, fewer, more, those behind it (a cycle)."""
    graph = _graph(root)
    owner = graph if rng.random() < 0.2 else _operator(root, rng)
    number = rng.choice((1, 2))
    vector = owner.vector(number)
    if vector is None:
        return
    tensors = len(graph.nodes(TENSORS))
    action = rng.randrange(4)
    if action == 0 or not vector.count:
        vector.data += _index(rng, tensors)
    elif action == 1:
        del vector.data[-4:]
    elif action == 2 and owner is not graph and number == 1 and owner.vector(2):
        vector.put(rng.randrange(vector.count), bytes(cast(Vector, owner.vector(2)).data[:4]) or b"\0\0\0\0")
    else:
        vector.put(rng.randrange(vector.count), _index(rng, tensors))


def order(root: Node, rng: random.Random) -> None:
    """Operators swapped, repeated or left out."""
    operators = _graph(root).nodes(OPERATORS)
    if not operators:
        return
    first, second = (rng.randrange(len(operators)) for _ in range(2))
    action = rng.randrange(3)
    if action == 0:
        operators[first], operators[second] = operators[second], operators[first]
    elif action == 1:
        operators[second:second] = [operators[first]] * rng.choice((1, 2, 40))
    else:
        del operators[first]


def _vector(value: object, rng: random.Random) -> None:
    """One number of a vector, or how many there are."""
    if not isinstance(value, Vector):
        return
    action = rng.random()
    if action < 0.7 and value.count:
        value.put(rng.randrange(value.count), _number(rng, value.size_bytes))
    elif action < 0.85:
        value.data += _number(rng, value.size_bytes) * rng.choice((1, 1, 2, 8))
    else:
        del value.data[-value.size_bytes :]


def shape(root: Node, rng: random.Random) -> None:
    """One extent of a tensor, or its rank; now and then of its signature. Constants keep their bytes."""
    tensor = _tensor(root, rng)
    number = 7 if rng.random() < 0.1 else 0
    _vector(tensor.fields.setdefault(number, Vector(4, bytearray())), rng)


def grown(root: Node, rng: random.Random) -> None:
    """The same larger extent in all tensors that have a certain one: files that stay sound, but large."""
    tensors = _graph(root).nodes(TENSORS)
    vectors = [vector for tensor in tensors if (vector := tensor.vector(0)) and vector.count]
    if not vectors:
        return
    chosen = rng.choice(vectors)
    old = bytes(chosen.data[:4]) if rng.random() < 0.3 else bytes(chosen.data[-8:-4] or chosen.data[-4:])
    new = struct.pack("<i", rng.choice((2, 3, 5, 17, 64, 300, 2000, 1 << 15, 1 << 20)))
    for vector in vectors:
        for index in range(vector.count):
            if bytes(vector.data[4 * index : 4 * index + 4]) == old:
                vector.put(index, new)


def element_type(root: Node, rng: random.Random) -> None:
    """Another element type."""
    _tensor(root, rng).fields[1] = bytes([rng.choice((0, 1, 2, 3, 4, 6, 7, 9, 9, 9, rng.randrange(256)))])


def retyped(root: Node, rng: random.Random) -> None:
    """Another element type of all tensors of one."""
    old, new = (bytes([rng.choice((0, 9, 7, 2, 3))]) for _ in range(2))
    for tensor in _graph(root).nodes(TENSORS):
        if tensor.fields.get(1, b"\0") == old:
            tensor.fields[1] = new


def buffer(root: Node, rng: random.Random) -> None:
    """Another buffer for a tensor, or other bytes in one."""
    buffers = root.nodes(BUFFERS)
    if rng.random() < 0.4:
        _tensor(root, rng).fields[2] = _index(rng, len(buffers))
        return
    chosen = _pick(rng, [each for each in buffers if each.vector(0)])
    vector = chosen.vector(0)
    if rng.random() < 0.1:
        chosen.fields[rng.choice((1, 2))] = _number(rng, 8)
    elif vector is not None and rng.random() < 0.5:
        _vector(vector, rng)
    elif vector is not None and len(vector.data) >= 4:
        at = rng.randrange(len(vector.data) // 4) * 4
        vector.data[at : at + 4] = _float(rng) if rng.random() < 0.3 else _number(rng, 4)


def quantization(root: Node, rng: random.Random) -> None:
    """Scales, zero points, axis: their values, how many, another tensor's, none."""
    tensor, other = _tensor(root, rng), _tensor(root, rng)
    found = tensor.node(4)
    action = rng.randrange(6)
    if action == 0 or found is None:
        if other.node(4) is not None:
            tensor.fields[4] = cast(Node, other.node(4))
    elif action == 1:
        tensor.fields.pop(4)
    elif action == 2:
        found.fields[6] = _number(rng, 4)
    elif action == 3:
        _vector(found.fields.setdefault(3, Vector(8, bytearray())), rng)
    else:
        scales = found.vector(2)
        if scales is not None and scales.count:
            scales.put(rng.randrange(scales.count), _float(rng))


def scales(root: Node, rng: random.Random) -> None:
    """All scales multiplied by one number: a sound file with extreme quantisation."""
    factor = 2.0 ** rng.uniform(-140, 120)
    for tensor in _graph(root).nodes(TENSORS):
        found = tensor.node(4)
        vector = found.vector(2) if found else None
        for index in range(vector.count if vector else 0):
            assert vector is not None
            (scale,) = struct.unpack_from("<f", vector.data, 4 * index)
            changed = min(float(scale) * factor, 3.4e38)
            vector.put(index, struct.pack("<f", changed))


def names(root: Node, rng: random.Random) -> None:
    """Names that C, a terminal or a reader trips over; one for many tensors."""
    name = rng.choice(_NAMES)
    tensors = _graph(root).nodes(TENSORS)
    for tensor in tensors if rng.random() < 0.3 else [_pick(rng, tensors)]:
        tensor.fields[3] = name


def flags(root: Node, rng: random.Random) -> None:
    """Variable, sparse, custom quantisation, version, entry points."""
    tensor = _tensor(root, rng)
    action = rng.randrange(5)
    if action == 0:
        tensor.fields[5] = b"\1"
    elif action == 1:
        tensor.fields[6] = Node(None)
    elif action == 2 and tensor.node(4):
        cast(Node, tensor.node(4)).fields[4] = b"\1"
    elif action == 3:
        root.fields[0] = _number(rng, 4)
    else:
        root.fields[7] = [Node(None, {4: _number(rng, 4)})]


TREE: tuple[tuple[Change, int], ...] = (
    (option_field, 6),
    (option_type, 2),
    (operator_code, 3),
    (operands, 3),
    (order, 2),
    (shape, 4),
    (grown, 4),
    (element_type, 2),
    (retyped, 1),
    (buffer, 4),
    (quantization, 4),
    (scales, 1),
    (names, 1),
    (flags, 1),
)
"""Changes of what a file says, by weight."""


def _bytes(data: bytes, sites: Sites, rng: random.Random) -> tuple[bytes, str]:
    """A change of how a file says it: a length, a reference, a field's place, or any bytes."""
    file = bytearray(data)
    action = rng.choice(("length", "offset", "entry", "word", "bit", "cut"))
    if action == "length":
        at = rng.choice(sites.lengths)
        (old,) = struct.unpack_from("<I", file, at)
        new = rng.choice((0, 1, old + 1, max(old - 1, 0), 2 * old, 1 << 15, (1 << 31) - 1, (1 << 32) - 1))
        struct.pack_into("<I", file, at, new)
    elif action == "offset":
        at = rng.choice(sites.offsets)
        near = rng.choice(sites.targets) - at
        new = rng.choice((near, near, near + 4, 0, 4, (1 << 32) - 4, rng.randrange(1 << 32)))
        struct.pack_into("<I", file, at, new & 0xFFFFFFFF)
    elif action == "entry":
        struct.pack_into("<H", file, rng.choice(sites.entries), rng.choice((0, 4, 6, 8, 12, 64, 65535)))
    elif action == "word":
        at = rng.randrange(len(file) // 4) * 4
        file[at : at + 4] = _number(rng, 4)
    elif action == "bit":
        file[rng.randrange(len(file))] ^= 1 << rng.randrange(8)
    else:
        del file[rng.randrange(len(file)) :]
    return bytes(file), action


def mutant(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """A changed copy of the sound file `data`, and what was done."""
    root, sites = parse(data)
    if rng.random() < 0.25:
        return _bytes(data, sites, rng)
    changes, weights = zip(*TREE, strict=True)
    done: list[str] = []
    for change in rng.choices(changes, weights, k=rng.choice((1, 1, 1, 2, 3))):
        change(root, rng)
        done.append(change.__name__)
    return encode(root), " ".join(done)
