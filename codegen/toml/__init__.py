"""TOML files of people's into frozen values: boards, memory models, the tables of codegen.toml.

In: a table. Out: the fields of a dataclass, or every mistake at once: field, value, reason, line.
Start with `decode`; `lines` says where keys stand.
"""
