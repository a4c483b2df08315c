"""The file itself: verified, read into plain records, nothing interpreted.

In: bytes. Out: `FileModel`. Start with `reader`; `flatbuffer` checks every reference before that.
"""
