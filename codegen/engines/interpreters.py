"""Which Python has which engines: a named one, else this one, else that of the checkout.

An engine may need another NumPy or another Python than this program, so it may live in an environment of
its own: `--engine-python PATH`, or `.venv-engines` beside the checkout, which `make engines` makes.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codegen.engines.child import installed
from codegen.engines.processes import EngineError, answering
from codegen.errors import CodegenError, Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """An engine that is installed, and the Python that runs it."""

    name: str
    version: str
    python: Path

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def checkout_python() -> Path | None:
    """Python of `.venv-engines` beside the checkout that this package is in; None where there is none."""
    python = Path(__file__).resolve().parents[2] / ".venv-engines" / "bin" / "python"
    return python if python.exists() else None


def find_engine(names: Sequence[str], python: str | None) -> Engine | None:
    """The first of the engines `names` that is installed; `python`: where alone to look.

    Raises CodegenError E238 if the named Python cannot be run.
    """
    pythons = _pythons(python)
    for name in names:
        for path in pythons:
            version = installed_engines(path).get(name)
            if version is not None:
                return Engine(name=name, version=version, python=path)
    return None


def _pythons(python: str | None) -> tuple[Path, ...]:
    if python is not None:
        if not Path(python).is_file():
            text = "there is no such file"
            raise CodegenError(_unusable(python, text))
        return (Path(python),)
    beside = checkout_python()
    return (Path(sys.executable), *(() if beside is None else (beside,)))


def _unusable(python: str, text: str) -> Message:
    help_ = "name a Python in which an engine is installed: DIR/bin/python of a virtual environment"
    return Message(code="E238", where=f"--engine-python {python}", text=text, help=help_)


@cache
def installed_engines(python: Path) -> Mapping[str, str]:
    """Engine -> version, of those that `python` has. Raises CodegenError E238 if it cannot be run."""
    if python == Path(sys.executable):
        return installed()  # no process is started where this one can tell
    try:
        with answering(python) as child:
            answer = child.ask({})
    except (OSError, EngineError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{error}; it needs NumPy"
        raise CodegenError(_unusable(str(python), f"cannot be run: {reason}")) from error
    names = str(answer["engines"]).split(",")
    return {
        name: version for name, version in zip(names, str(answer["versions"]).split(","), strict=True) if name
    }
