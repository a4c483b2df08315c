"""The hash of the runtime is one of what products are made of."""

import shutil
from pathlib import Path

from codegen import resources
from codegen.emit.folder.marks import runtime_files


def test_what_an_editor_leaves_changes_no_hash(tmp_path: Path) -> None:
    """A backup beside a kernel made another build: every file of the folder was hashed."""
    root = tmp_path / "runtime_c"
    shutil.copytree(resources.folder("runtime_c"), root)
    before = runtime_files(root)
    assert {Path(name).suffix for name in before} == {".S", ".c", ".h", ".inc"}
    for name in ("pad.c~", ".pad.c.swp", "#pad.c#", ".#pad.c", "pad.c.orig", "pad.o"):
        (root / "kernels" / "portable" / name).write_bytes(b"\xff")
    assert runtime_files(root) == before
    (root / "kernels" / "portable" / "pad.c").write_text("int changed;\n")
    assert runtime_files(root) != before
