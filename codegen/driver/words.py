"""Words that summaries have in common."""


def counted(count: int, one: str, more: str | None = None) -> str:
    """`1 copy`, `1,200 copies`: `one` is the noun, `more` its plural, by default with an s."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
