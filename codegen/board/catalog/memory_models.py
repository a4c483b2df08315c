"""The memory models that ship (boards/memory/*.toml), and a user's own file."""

from pathlib import Path

from codegen import resources
from codegen.board.catalog.board_files import read_file
from codegen.errors import CodegenError, Message
from codegen.ir import MemoryModel


def load_memory_model(name_or_path: str) -> MemoryModel:
    """The memory model called so, or described by the `.toml` file at that path.

    Raises CodegenError: E254 no such model (with the known ones), E251 the file cannot be read or is no
    TOML, E252 mistakes in it, all at once.
    """
    folder = resources.folder("boards") / "memory"
    path = folder / f"{name_or_path}.toml"
    if name_or_path.endswith(".toml") or "/" in name_or_path:
        path = Path(name_or_path)
    elif not path.is_file():
        names = ", ".join(sorted(each.stem for each in folder.glob("*.toml")))
        help_ = f"known models: {names}; or the path of a file (.toml, docs/cycles.md)"
        text = f"there is no memory model {name_or_path!r}"
        raise CodegenError(Message(code="E254", where="--memory-model", text=text, help=help_))
    help_ = "docs/cycles.md says what a memory model holds"
    return read_file(MemoryModel, path, help=help_)
