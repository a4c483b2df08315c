"""The memory models that ship (boards/memory/*.toml), and a user's own file."""

from pathlib import Path

from codegen import resources
from codegen.board.catalog.decode import decode
from codegen.documents import read_toml
from codegen.errors import CodegenError, Message, Messages
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
    return _read(path)


def _read(path: Path) -> MemoryModel:
    try:
        table, _ = read_toml(path)
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror}") from error
    except ValueError as error:  # TOML, UTF-8 or a limit
        raise _unreadable(path, f"is no TOML: {error}") from error
    messages = Messages()
    model = decode(MemoryModel, table, path.name, messages)
    messages.raise_if_any()
    assert model is not None  # else there were messages
    return model


def _unreadable(path: Path, text: str) -> CodegenError:
    help_ = "docs/cycles.md says what a memory model holds"
    return CodegenError(Message(code="E251", where=str(path), text=text, help=help_))
