"""Files that a user names and a stage reads."""

from pathlib import Path

from codegen.errors import CodegenError, Message


def existing(path: Path, kinds: str = "a .tflite file") -> Path:
    """`path` if it is a readable file; `kinds`: what is wanted there. Raises CodegenError E204."""
    if path.is_dir():
        raise CodegenError(Message(code="E204", text=f"{path} is a folder", help=f"give the path of {kinds}"))
    if not path.is_file():
        raise CodegenError(Message(code="E204", text=f"no file {path}", help=f"give the path of {kinds}"))
    return path
