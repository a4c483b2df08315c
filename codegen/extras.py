"""Packages that this distribution and its extras need, and the command that installs them.

Messages give the packages themselves: that holds in a checkout, after a wheel, and under any name that the
distribution has in a registry.
"""

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

DISTRIBUTION = "codegen-baremetal"
"""Name of the distribution. The package to import and the command are called codegen."""
_EXTRA = re.compile(r"""extra\s*==\s*["'](?P<extra>[^"']+)["']""")


def requirements() -> list[tuple[str, str | None]]:
    """Each declared requirement, as `onnx>=1.17`, and the extra that needs it; None for all users."""
    import importlib.metadata  # a twentieth of a command's start, and seldom asked for

    try:
        declared = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return _checkout_requirements()
    extras = [_EXTRA.search(requirement) for requirement in declared]
    return [
        (requirement.split(";")[0].strip(), extra["extra"] if extra else None)
        for requirement, extra in zip(declared, extras, strict=True)
    ]


def _checkout_requirements() -> list[tuple[str, str | None]]:
    """Requirements of a checkout that is not installed."""
    project_file = Path(__file__).resolve().parents[1] / "pyproject.toml"
    if not project_file.is_file():
        return []
    project = tomllib.loads(project_file.read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    optional = [(requirement, extra) for extra, group in extras.items() for requirement in group]
    return [*((requirement, None) for requirement in project["dependencies"]), *optional]


def install_extra(extra: str) -> str:
    """Command that installs what `extra` needs into the Python that runs this."""
    packages = [requirement for requirement, needed_by in requirements() if needed_by == extra]
    return pip_install(packages) if packages else f"install codegen with its extra `{extra}`"


def pip_install(packages: Iterable[str]) -> str:
    """Command that installs `packages` into the Python that runs this."""
    return " ".join([sys.executable, "-m", "pip", "install", *(f'"{package}"' for package in packages)])
