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
_RUNTIME_LICENCE = "Apache-2.0"
"""Licence of all files that are copied from the runtime, and of no other file."""
_LICENCE = re.compile(rb"SPDX-License-Identifier:\s*([\w.+-]+)")
_HEAD_BYTES = 400
"""The licence of a file stands at its beginning."""
Component = dict[str, Any]


def folder_bill(
    folder: Path,
    files: Iterable[str],
    *,
    product: tuple[str, str],
    properties: Mapping[str, str],
    generator: tuple[str, str],
    models: Mapping[str, tuple[str, str]],
) -> str:
    """Text of the bill of an emitted folder: `files` below it with their hashes.

    `product` is its name and version, `generator` those of the distribution that wrote it. `models`: name ->
    (format, SHA-256 of the file). Raises OSError.
    """
    listed = [file_component(name, (folder / name).read_bytes()) for name in sorted(files)]
    copied = [file for file in listed if file.get("licenses") == _licences(_RUNTIME_LICENCE)]
    runtime = library(RUNTIME, generator[1], _RUNTIME_LICENCE) | {"components": copied}
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
        "name": product[0],
        "version": product[1],
        "licenses": [{"expression": "0BSD AND Apache-2.0"}],
        "properties": [{"name": f"codegen:{name}", "value": value} for name, value in properties.items()],
    }
    generated = [file for file in listed if file not in copied]
    return bill(main, [*networks, runtime, *generated], [library(*generator, _RUNTIME_LICENCE)])


def bill(main: Component, components: list[Component], tools: list[Component]) -> str:
    """Text of a CycloneDX document about `main`, which depends on all libraries and models."""
    needed = [part["bom-ref"] for part in components if part["type"] != "file"]
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
    component: Component = {"type": "library", "bom-ref": name, "name": name}
    component |= {} if version is None else {"version": version}
    return component | ({} if licence is None else {"licenses": _licences(licence)})


def file_component(name: str, data: bytes) -> Component:
    """A file with its hash, and the licence that it names in its first lines."""
    component: Component = {"type": "file", "bom-ref": f"file:{name}", "name": name}
    component["hashes"] = _sha256(hashlib.sha256(data).hexdigest())
    licence = _LICENCE.search(data[:_HEAD_BYTES])
    return component | ({} if licence is None else {"licenses": _licences(licence[1].decode())})


def _licences(licence: str) -> list[dict[str, dict[str, str]]]:
    return [{"license": {"id": licence}}]


def _sha256(digest: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": digest}]
