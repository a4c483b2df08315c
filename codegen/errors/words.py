"""Words that messages have in common."""


def in_bytes(count: int, width: int = 0) -> str:
    """`1 byte`, `12 bytes`; with a `width` a row of a table: numbers of so many characters, words of one."""
    unit = "byte" if count == 1 else "bytes"
    return f"{count:>{width}} {unit:<5}" if width else f"{count} {unit}"
