"""Board files: read, decoded, contradictions told all at once with their lines.

In: TOML. Out: `Board`. Start with `boards`.
"""
