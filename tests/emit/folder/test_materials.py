"""Bills of materials: files with their hashes, valid CycloneDX, equal in two builds."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from codegen import __version__
from codegen.api import build
from codegen.driver.options import Options
from codegen.extras import DISTRIBUTION
from tests.checkout import ROOT
from tests.cli.test_verbs import call

MODELS = [ROOT / "examples" / "digits" / "digits.tflite", ROOT / "examples" / "two_models" / "tone.tflite"]
BILL = "sbom.cdx.json"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two builds of two models, in folders of different names."""
    place = tmp_path_factory.mktemp("bills")
    for name in ("once", "again/and_again"):
        build(MODELS, place / name, Options(board="rpi-pico"))
    return [place / "once", place / "again" / "and_again"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_of(components: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Path -> component of each file, those of the runtime too."""
    files: dict[str, dict[str, Any]] = {}
    for component in components:
        files |= files_of(component.get("components", []))
        files |= {component["name"]: component} if component["type"] == "file" else {}
    return files


def valid(text: str) -> None:
    """By the schema that the maintainers of CycloneDX ship, unknown fields refused."""
    pytest.importorskip("cyclonedx", reason="cyclonedx-python-lib is not installed: `make test` installs it")
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert (
        JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.replace('"bomFormat"', '"bom"')) is not None
    )


def test_each_file_of_a_folder_is_listed_with_its_hash_and_licence(folders: list[Path]) -> None:
    folder = folders[0]
    listed = files_of(json.loads((folder / BILL).read_text())["components"])
    present = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(present) - set(listed) == {BILL, "report.json", ".codegen"}
    assert set(listed) <= set(present)
    for name, component in listed.items():
        assert component["hashes"] == [{"alg": "SHA-256", "content": digest(present[name])}]
    assert {"models_kernels.c", "models_assembly.S", "models_kernels.h", "cg_runtime.h"} <= set(listed)
    for name in listed:
        if name.endswith((".c", ".h", ".S", ".ld")):
            stated = re.search(r"SPDX-License-Identifier: (\S+)", present[name].read_text().splitlines()[0])
            assert stated is not None
            assert listed[name]["licenses"] == [{"license": {"id": stated[1]}}]
    assert {"LICENSE", "firmware.elf", "firmware.uf2", "digits.c"} <= set(listed)


def test_models_runtime_and_generator_have_versions_and_hashes(folders: list[Path]) -> None:
    bill = json.loads((folders[0] / BILL).read_text())
    by_name = {component["bom-ref"]: component for component in bill["components"]}
    for model in MODELS:
        assert by_name[f"model-{model.stem}"]["hashes"][0]["content"] == digest(model)
    runtime = by_name["codegen-runtime"]
    assert (runtime["version"], runtime["licenses"]) == (__version__, [{"license": {"id": "Apache-2.0"}}])
    [generator] = bill["metadata"]["tools"]["components"]
    assert (generator["name"], generator["version"]) == (DISTRIBUTION, __version__)
    report = json.loads((folders[0] / "report.json").read_text())
    assert bill["metadata"]["component"]["version"] == report["build"]["sha256"]
    assert bill["dependencies"] == [
        {"ref": "product", "dependsOn": ["model-digits", "model-tone", "codegen-runtime"]}
    ]


@pytest.mark.parametrize("form", ["cmake", "arduino", "zephyr", "mlf"])
def test_a_package_has_its_own_bill(form: str, folders: list[Path], tmp_path: Path) -> None:
    """Its files lie elsewhere than those of the build, and have other licences and one more version."""
    assert (
        call("export", str(folders[0]), "--as", form, "-o", str(tmp_path / form), "--name", "both", "-q") == 0
    )
    text = (tmp_path / form / BILL).read_text()
    bill = json.loads(text)
    listed = files_of(bill["components"])
    present = {
        path.relative_to(tmp_path / form).as_posix()
        for path in (tmp_path / form).rglob("*")
        if path.is_file()
    }
    assert present - set(listed) == {BILL, ".codegen"} and set(listed) < present
    assert all(
        file["hashes"][0]["content"] == digest(tmp_path / form / name) for name, file in listed.items()
    )
    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]) == (
        "both",
        "1.0.0",
    )
    assert bill["dependencies"][0]["dependsOn"] == ["model-digits", "model-tone", "codegen-runtime"]
    valid(text)


def test_two_builds_have_the_same_bill(folders: list[Path]) -> None:
    once, again = ((folder / BILL).read_bytes() for folder in folders)
    assert once == again
    assert not re.search(rb"timestamp|serialNumber|\d{4}-\d\d-\d\dT", once)
    valid(once.decode())


def test_the_wheel_has_a_bill_and_is_the_same_twice(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed: `make test` installs it")
    wheels: list[Path] = []
    for name in ("once", "again"):
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / name)]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
        wheels += (tmp_path / name).glob("*.whl")
    once, again = wheels
    assert once.name == again.name == f"codegen_baremetal-{__version__}-py3-none-any.whl"
    assert once.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(once) as wheel:
        [place] = [name for name in wheel.namelist() if ".dist-info/sboms/" in name]
        text = wheel.read(place).decode()
        inside = {name: wheel.read(name) for name in wheel.namelist() if "/runtime_c/" in name}
    listed = files_of(json.loads(text)["components"])
    sources = {f"codegen/_data/{name}": component for name, component in listed.items()}
    assert set(sources) == {name for name in inside if name.endswith((".c", ".h", ".S", ".inc"))}
    for name, component in sources.items():
        assert component["hashes"][0]["content"] == hashlib.sha256(inside[name]).hexdigest()
    stated = {library["properties"][0]["value"] for library in json.loads(text)["components"][1:]}
    assert len(stated) > 8 and any(requirement.startswith("numpy") for requirement in stated)
    valid(text)
