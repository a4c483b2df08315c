"""The bill of materials of a folder that is being written: sbom.cdx.json."""

from pathlib import Path

from codegen import __version__
from codegen.emit.folder.manifest import UNLISTED, names_in
from codegen.emit.folder.materials import SBOM_FILE, folder_bill
from codegen.extras import DISTRIBUTION
from codegen.program.program import Bundle


def write_bill(folder: Path, bundle: Bundle, build_sha256: str, compiled_by: str) -> None:
    """List all files of `folder`, which is ours alone, but those that `run` rewrites. Raises OSError."""
    files = [name for name in names_in(folder) if name not in UNLISTED]
    models = {
        program.name: (program.metadata["format"], program.metadata["sha256"]) for program in bundle.programs
    }
    text = folder_bill(
        folder,
        files,
        product=bundle.prefix,
        build_sha256=build_sha256,
        compiled_by=compiled_by,
        generator=(DISTRIBUTION, __version__),
        models=models,
    )
    (folder / SBOM_FILE).write_text(text, encoding="utf-8", newline="\n")
