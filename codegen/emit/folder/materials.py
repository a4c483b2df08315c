"""Bill of materials of an emitted folder or of the wheel: CycloneDX 1.6 in JSON.

It has neither times nor serial numbers, so that two builds give the same bytes. Of the package only the
standard library is needed: the build of the wheel loads this module by its path.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SBOM_FILE = "sbom.cdx.json"
SPEC_VERSION = "1.6"
RUNTIME = "codegen-runtime"
_RUNTIME_FOLDER = "runtime/"
_LICENCE = re.compile(rb"SPDX-License-Identifier:\s*([\w.+-]+)")
_HEAD_BYTES = 400
"""The licence of a file stands at its beginning."""
Component = dict[str, Any]


def folder_bill(
    folder: Path,
    files: Iterable[str],
    *,
    product: str,
    build_sha256: str,
    compiled_by: str,
    generator: tuple[str, str],
    models: Mapping[str, tuple[str, str]],
) -> str:
    """Text of the bill of an emitted folder: `files` below it with their hashes.

    `generator` is name and version of the distribution that wrote it. `models`: name -> (format, SHA-256 of
    the file). Raises OSError.
    """
    listed = [file_component(name, (folder / name).read_bytes()) for name in sorted(files)]
    runtime = library(RUNTIME, generator[1], "Apache-2.0")
    runtime["components"] = [each for each in listed if each["name"].startswith(_RUNTIME_FOLDER)]
    networks = [
        {
            "type": "machine-learning-model",
            "bom-ref": f"model-{name}",
            "name": name,
            "hashes": _sha256(digest),
            "properties": [{"name": "codegen:format", "value": kind}],
        }
        for name, (kind, digest) in sorted(models.items())
    ]
    main = {
        "type": "library",
        "bom-ref": "product",
        "name": product,
        "version": build_sha256,
        "licenses": [{"expression": "0BSD AND Apache-2.0"}],
        "properties": [{"name": "codegen:compiled-by", "value": compiled_by}],
    }
    own = [each for each in listed if not each["name"].startswith(_RUNTIME_FOLDER)]
    return bill(main, [*networks, runtime, *own], [library(*generator, "Apache-2.0")])


def bill(main: Component, components: list[Component], tools: list[Component]) -> str:
    """Text of a CycloneDX document about `main`, which depends on all libraries and models."""
    needed = [each["bom-ref"] for each in components if each["type"] != "file"]
    document = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {"component": main, **({"tools": {"components": tools}} if tools else {})},
        "components": components,
        "dependencies": [{"ref": main["bom-ref"], "dependsOn": needed}],
    }
    return json.dumps(document, indent=1) + "\n"


def library(name: str, version: str | None, licence: str | None) -> Component:
    """A component that is a library; unknown parts are left out."""
    found: Component = {"type": "library", "bom-ref": name, "name": name}
    found |= {} if version is None else {"version": version}
    return found | ({} if licence is None else {"licenses": [{"license": {"id": licence}}]})


def file_component(name: str, data: bytes) -> Component:
    """A file with its hash, and the licence that it names in its first lines."""
    found: Component = {"type": "file", "bom-ref": f"file:{name}", "name": name}
    found["hashes"] = _sha256(hashlib.sha256(data).hexdigest())
    licence = _LICENCE.search(data[:_HEAD_BYTES])
    return found | ({} if licence is None else {"licenses": [{"license": {"id": licence[1].decode()}}]})


def _sha256(digest: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": digest}]
