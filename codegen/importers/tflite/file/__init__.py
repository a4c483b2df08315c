"""The file itself: verified, read into plain records, nothing interpreted.

In: bytes. Out: `FileModel`. Start with `reader`; `schema_layout` is the schema as data.
"""
