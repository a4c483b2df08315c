"""Changes to a protobuf file: of what it says, by its fields, and of how it says it, on its bytes."""

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

_NUMBERS = (0, 1, 2, 3, 4, 7, 8, 13, 64, 255, 1000, 65536, 1 << 24, (1 << 31) - 1, 1 << 40, (1 << 63) - 1)
_FLOATS = (0.0, -0.0, 1e-45, 1e-20, 0.5, 1.0, 1e20, 3.4e38, -1.0, float("inf"), float("nan"))
_NAMES = (
    "",
    "a" * 70_000,
    "int",
    "x/y:0",
    "\x1b[31m",
    "ä" * 40,
    "_",
    "9",
    "ai.onnx",
    "../../x",
    "SAME_UPPER",
)
_WIDTHS = {
    FieldDescriptor.TYPE_INT32: 32,
    FieldDescriptor.TYPE_INT64: 64,
    FieldDescriptor.TYPE_UINT64: 65,
}

Site = tuple[Any, Any]
"""A message and the descriptor of one of its fields."""


def messages(root: Any) -> Iterator[Any]:
    """The message and all inside it, each before its parts."""
    waiting = [root]
    while waiting:
        each = waiting.pop()
        yield each
        for field, value in each.ListFields():
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                waiting.extend(value if field.is_repeated else [value])


def _filled(root: Any) -> list[Site]:
    return [(each, field) for each in messages(root) for field, _ in each.ListFields()]


def _strings(root: Any) -> list[str]:
    found: list[str] = []
    for message, field in _filled(root):
        if field.type == FieldDescriptor.TYPE_STRING:
            value = getattr(message, field.name)
            found += list(value) if field.is_repeated else [value]
    return found


def _scalar(field: Any, root: Any, rng: random.Random) -> Any:
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return rng.choice(_FLOATS)
    if field.type == FieldDescriptor.TYPE_STRING:
        known = _strings(root)
        return rng.choice(known if known and rng.random() < 0.7 else _NAMES)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.randbytes(rng.choice((0, 1, 4, 7, 64, 5000)))
    if field.type == FieldDescriptor.TYPE_ENUM:
        return rng.choice([each.number for each in field.enum_type.values])
    width = _WIDTHS.get(field.type, 32)
    value = rng.choice(_NUMBERS) * (1 if width == 65 else rng.choice((1, 1, 1, -1)))
    return min(value, (1 << min(width - 1, 63)) - 1) if value >= 0 else max(value, -(1 << (width - 1)))


def _repeated(message: Any, field: Any, root: Any, rng: random.Random) -> None:
    """Parts left out, repeated, swapped, changed."""
    found = getattr(message, field.name)
    action, at = rng.randrange(5), rng.randrange(len(found))
    is_message = field.type == FieldDescriptor.TYPE_MESSAGE
    if action == 0:
        del found[at]
    elif action == 1:
        found.extend([found[at]] * rng.choice((1, 2, 40)))
    elif action == 2 and is_message:
        parts: list[Any] = [type(each).FromString(each.SerializeToString()) for each in found]
        rng.shuffle(parts)
        del found[:]
        found.extend(parts)
    elif not is_message:
        found[at] = _scalar(field, root, rng)
    else:
        _transplant(found[at], root, rng)


def _transplant(target: Any, root: Any, rng: random.Random) -> None:
    """Another part of the same kind in the place of one: also one that holds it."""
    alike = [each for each in messages(root) if type(each) is type(target)]
    copy = type(target)()
    copy.CopyFrom(rng.choice(alike))
    target.CopyFrom(copy)


def filled_field(root: Any, rng: random.Random) -> None:
    """A field that the file has."""
    message, field = rng.choice(_filled(root))
    if field.is_repeated:
        _repeated(message, field, root, rng)
    elif field.type != FieldDescriptor.TYPE_MESSAGE:
        setattr(message, field.name, _scalar(field, root, rng))
    elif rng.random() < 0.5:
        _transplant(getattr(message, field.name), root, rng)
    else:
        message.ClearField(field.name)


def new_field(root: Any, rng: random.Random) -> None:
    """A field that the file has not."""
    message = rng.choice(list(messages(root)))
    field = rng.choice(list(message.DESCRIPTOR.fields))
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        part = getattr(message, field.name)
        part.add() if field.is_repeated else part.SetInParent()
    elif field.is_repeated:
        getattr(message, field.name).extend(
            [_scalar(field, root, rng) for _ in range(rng.choice((1, 2, 30)))]
        )
    else:
        setattr(message, field.name, _scalar(field, root, rng))


def of_kind(*names: str) -> Callable[[Any, random.Random], None]:
    """A change of a part of these kinds: most of a file is text that nothing reads."""

    def change(root: Any, rng: random.Random) -> None:
        found = [each for each in messages(root) if each.DESCRIPTOR.name in names]
        sites = [(each, field) for each in found for field, _ in each.ListFields()]
        if not sites:
            return
        message, field = rng.choice(sites)
        if field.is_repeated:
            _repeated(message, field, root, rng)
        elif field.type != FieldDescriptor.TYPE_MESSAGE:
            setattr(message, field.name, _scalar(field, root, rng))

    change.__name__ = names[0].lower()
    return change


def in_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bits, lengths, words, the end."""
    file = bytearray(data)
    action, at = rng.randrange(5), rng.randrange(len(file))
    if action == 0:
        file[at] ^= 1 << rng.randrange(8)
    elif action == 1:
        file[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
    elif action == 2:
        file[at:at] = rng.choice(
            (b"\xff" * 9 + b"\x01", b"\x0a" * 64, struct.pack("<Q", rng.getrandbits(64)))
        )
    elif action == 3:
        file[at:at] = bytes(file[at : at + rng.randrange(1, 40)]) * rng.choice((1, 2, 100))
    else:
        del file[at:]
    return bytes(file)
