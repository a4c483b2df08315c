"""The bill of materials of a folder that is being written: sbom.cdx.json."""

from collections.abc import Mapping
from pathlib import Path

from codegen import __version__
from codegen.emit.folder.manifest import UNLISTED, names_in
from codegen.emit.folder.materials import SBOM_FILE, folder_bill
from codegen.extras import DISTRIBUTION


def write_bill(
    folder: Path,
    product: tuple[str, str],
    models: Mapping[str, tuple[str, str]],
    properties: Mapping[str, str] | None = None,
) -> None:
    """List all files of `folder`, which is ours alone, but those that `run` rewrites. `product` is its name
    and version; `models`: name -> (format, SHA-256 of the file). Raises OSError."""
    text = folder_bill(
        folder,
        [name for name in names_in(folder) if name not in UNLISTED],
        product=product,
        properties=properties or {},
        generator=(DISTRIBUTION, __version__),
        models=models,
    )
    (folder / SBOM_FILE).write_text(text, encoding="utf-8", newline="\n")
