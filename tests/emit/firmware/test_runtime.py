"""The runtime in an emitted folder: its terms, and what its hash is of."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from codegen import resources
from codegen.emit import render
from codegen.emit.gathered.runtime_files import runtime_files
from codegen.joint import together
from codegen.kernels.call import UserSource
from codegen.program.interface import ConstantsMode, Interface, PoolOwner
from tests.checkout import ROOT
from tests.emit import samples

_LINE = re.compile(r"^(?:/\*|@|#) SPDX-License-Identifier: (?P<name>[\w.-]+)(?: \*/)?$")


def named(text: str) -> str | None:
    """The licence that the first line of a file names."""
    found = _LINE.match(text.split("\n", 1)[0])
    return found["name"] if found else None


def test_every_emitted_file_says_its_terms() -> None:
    """Nothing in a folder said under which terms its files may be shipped."""
    counter = samples.counter(board=samples.ARM)
    caller = replace(counter, interface=Interface(pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL))
    copied = {path.name for path in resources.folder("runtime_c").rglob("*") if path.is_file()}
    endings = ("kernels.c", "kernels.h", "assembly.S")
    copied |= {f"{name}_{ending}" for name in ("counter", "models") for ending in endings}
    for programs in ((counter,), (counter, samples.mixed(board=samples.ARM)), (caller,)):
        files = dict(render(together(programs)).files)
        assert files.pop("LICENSE") == (ROOT / "LICENSE").read_text()
        for path, text in files.items():
            is_copied = Path(path).name in copied
            assert named(text) == ("Apache-2.0" if is_copied else "0BSD"), path


def test_every_file_of_the_runtime_says_its_terms() -> None:
    for path in resources.folder("runtime_c").rglob("*"):
        if path.is_file():
            assert named(path.read_text()) == "Apache-2.0", path


def test_a_kernel_of_the_users_is_copied_as_it_is() -> None:
    counter = samples.counter()
    source = UserSource(path="user/mine.c", text="/* (c) me, all rights reserved */\n")
    first = replace(counter.steps.prim_funcs[0], user_source=source)
    files = render(together([counter.running((first, *counter.steps.prim_funcs[1:]))])).files
    assert files["user/mine.c"] == source.text


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
