"""Contents of a package: the product of a built folder, checked against the list that the build wrote."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from codegen.api import (
    MANIFEST,
    CodegenError,
    Message,
    Messages,
    is_as_written,
    is_reserved_file,
    listed,
    read_manifest,
)
from codegen.report_file import ConstantPool, Pool, Report
from codegen.report_product import Product, ProductModel

LICENCE = "LICENSE"
"""Terms of the runtime, as a build writes them."""
INCLUDE_FOLDERS = (".",)
"""Folders in which the sources of a built folder find what they include."""

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,47}")
_VENDOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,47}")
_VERSION = re.compile(r"(0|[1-9]\d{0,4})(\.(0|[1-9]\d{0,4})){2}")
_LISTED = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageFiles:
    """Files of a package: path -> text, or bytes."""

    files: Mapping[str, str]
    binaries: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """The product of one built folder, with what packages say of it. Paths are those of the folder."""

    name: str
    version: str
    vendor: str
    url: str
    """Address of the package: a field that registries demand."""
    report: Report
    product: Product
    texts: Mapping[str, str]
    """Sources and headers, by path."""
    data: Mapping[str, bytes]
    samples: Mapping[tuple[str, str], Sequence[float]] = field(
        default_factory=dict[tuple[str, str], Sequence[float]]
    )
    """(model, input) -> the stored numbers that the examples feed; zeros where there are none."""

    @property
    def models(self) -> tuple[ProductModel, ...]:
        """In the order of the build."""
        return self.product.models

    @property
    def umbrella(self) -> bool:
        """True if the package has a header that includes the models'; else the only model is called as it."""
        return [model.name for model in self.models] != [self.name.lower()]

    @property
    def header(self) -> str:
        """The header that an application includes."""
        return f"{self.name if self.umbrella else self.models[0].name}.h"

    @property
    def needs(self) -> tuple[str, ...]:
        """Instruction sets that the core must have: dsp, fpu, mve, rv32, v6m, v7m."""
        return self.product.needs

    @property
    def sources(self) -> tuple[str, ...]:
        """All that is compiled."""
        return self.product.sources

    @property
    def headers(self) -> tuple[str, ...]:
        """All that sources include, sorted."""
        return tuple(sorted(set(self.texts) - {*self.sources, LICENCE}))

    @property
    def public_headers(self) -> tuple[str, ...]:
        """The models' headers, and what these include."""
        headers = _closure([f"{model.name}.h" for model in self.models], self.texts)
        return tuple(sorted(headers))

    @property
    def has_assembly(self) -> bool:
        """True if there are kernels in assembly."""
        return any(path.endswith(".S") for path in self.sources)

    @property
    def cpu(self) -> str:
        """The core that the kernels are for; `host` where they are portable C."""
        return "host" if self.report.board is None else self.report.board.cpu

    @property
    def is_portable(self) -> bool:
        """True if any core of 32 bits and more runs it."""
        return self.cpu == "host"

    @property
    def board(self) -> str:
        """The board it was planned for."""
        return "" if self.report.board is None else self.report.board.name

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Pools of RAM that the models share, with their planned bytes."""
        return () if self.report.plan is None else self.report.plan.pools

    @property
    def constant_pools(self) -> tuple[ConstantPool, ...]:
        """Pools of weights and tables, which are read only."""
        return () if self.report.constants is None else self.report.constants.pools

    @property
    def sentence(self) -> str:
        """Description of the package in one line."""
        ram = sum(pool.size_bytes for pool in self.pools)
        what = ", ".join(model.name for model in self.models)
        core = "portable C" if self.is_portable else f"kernels for {self.cpu}"
        return f"{what}: neural network as C, {ram:,} bytes of RAM planned, {core}"


def read_package(
    folder: Path, report: Report, *, name: str | None, version: str, vendor: str, url: str
) -> Package:
    """The package of a built folder, whose report.json says `report`.

    Raises CodegenError E291 if the report is not of a build or names files outside of the folder, E292 if
    files of the product are missing or not as the build wrote them, E293 for a name or version that build
    systems do not take.
    """
    product = report.product
    if product is None:
        text = "is no folder of `codegen build`: its report.json does not say what an application compiles"
        help_ = "`codegen build -o DIR` writes one (a plan alone, or an older codegen, does not)"
        raise CodegenError(Message(code="E291", where=str(folder), text=text, help=help_))
    _check_agreement(folder, report, product)
    chosen = name if name is not None else product.prefix
    _check_inside(folder, (*product.sources, *product.data))
    texts = _texts(folder, product)
    _check_words(chosen, version, vendor, _taken(product, texts), is_named=name is not None)
    return Package(
        name=chosen,
        version=version,
        vendor=vendor,
        url=url,
        report=report,
        product=product,
        texts=texts,
        data={path: (folder / path).read_bytes() for path in product.data},
    )


def _check_agreement(folder: Path, report: Report, product: Product) -> None:
    """Raise CodegenError E291 for a changed report: parts of it are of no model, or of another."""
    parts = report.models or (report,)
    reported = {part.model.name for part in parts if part.model is not None}
    strange = sorted({model.name for model in product.models} ^ reported)
    text = f"says different things of {listed(strange)}" if strange else ""
    if not product.models or not product.level:
        text = "names no model, or no level that it was compiled at"
    if text:
        help_ = "it was changed after the build: build the folder anew"
        raise CodegenError(Message(code="E291", where=str(folder), text=f"report.json {text}", help=help_))


def _check_words(name: str, version: str, vendor: str, taken: set[str], *, is_named: bool) -> None:
    messages = Messages()
    if not _NAME.fullmatch(name):
        text = f"{name!r} is no name of a package: a letter, then letters, digits and _, 48 at most"
        help_ = "name it with --name" if not is_named else "try --name my_model"
        messages.add("E293", text, where="--name", help=help_)
    elif name.lower() in taken or is_reserved_file(name):
        text = f"{name} is what files of the models or of the runtime are called"
        if is_reserved_file(name):
            text = f"Windows has no files that are called {name}: the name is a device's"
        messages.add("E293", text, where="--name", help=f"try --name {name.removeprefix('cg_')}_package")
    if not _VERSION.fullmatch(version):
        text = f"{version!r} is no version: three numbers, as 1.0.0"
        messages.add("E293", text, where="--version", help="try --version 1.0.0")
    if not _VENDOR.fullmatch(vendor):
        text = f"{vendor!r} is no vendor of a package: letters, digits, - and _, 2 to 48"
        messages.add("E293", text, where="--vendor", help="try --vendor my-company")
    messages.raise_if_any()


def _taken(product: Product, texts: Mapping[str, str]) -> set[str]:
    """Names of files, in small letters; one model's package may be called as the model."""
    stems = {PurePosixPath(path).stem.lower() for path in texts}
    return stems - {product.prefix} if len(product.models) == 1 else stems


def _texts(folder: Path, product: Product) -> dict[str, str]:
    """Sources, headers and licence, by path. Raises E291, E292."""
    try:
        manifest = read_manifest(folder)
        if manifest is None:
            text = f"has no {MANIFEST}, the list of what codegen wrote there"
            help_ = "give the folder of `codegen build -o`, not a copy of some of its files"
            raise CodegenError(Message(code="E291", where=str(folder), text=text, help=help_))
        _check_inside(folder, manifest)
        texts = _readable(folder, manifest)
        headers = _closure(product.sources, texts)
        paths = [*product.sources, *headers, LICENCE, *product.data]
        wrong = [path for path in paths if not _is_whole(folder, path, manifest)]
    except OSError as error:
        raise _changed(folder, f"cannot be read: {error.strerror or error}") from error
    if wrong:
        raise _changed(
            folder, f"was changed or removed since codegen wrote it: {listed(sorted(set(wrong)), _LISTED)}"
        )
    return {path: texts[path] for path in (*product.sources, *sorted(headers), LICENCE)}


def _check_inside(folder: Path, paths: Iterable[str]) -> None:
    """Raise E291 for paths that lead out of the folder: no build wrote what is there."""
    root = folder.resolve()
    outside = [path for path in paths if not (folder / path).resolve().is_relative_to(root)]
    if outside:
        text = f"names files outside of the folder: {listed(sorted(set(outside)), _LISTED)}"
        help_ = "build again: its report.json or .codegen is not as codegen wrote it"
        raise CodegenError(Message(code="E291", where=str(folder), text=text, help=help_))


def _changed(folder: Path, text: str) -> CodegenError:
    help_ = "build again, so that what is packed is what was planned and measured"
    return CodegenError(Message(code="E292", where=str(folder), text=text, help=help_))


def _is_whole(folder: Path, path: str, manifest: Mapping[str, str]) -> bool:
    return path in manifest and (folder / path).is_file() and is_as_written(folder / path, manifest[path])


def _readable(folder: Path, manifest: Mapping[str, str]) -> dict[str, str]:
    """Texts of the folder that a product may be made of; empty for those that are gone or no text."""
    suffixes = (".c", ".h", ".S", ".inc")
    return {
        path: (folder / path).read_text(encoding="utf-8", errors="replace")
        if (folder / path).is_file()
        else ""
        for path in manifest
        if (path.endswith(suffixes) or path == LICENCE) and not path.startswith("firmware/")
    }


def _closure(paths: Iterable[str], texts: Mapping[str, str]) -> set[str]:
    """Headers that `paths` include, and these in turn; `paths` that are headers themselves too."""
    visited: set[str] = set()
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path in texts and path not in visited:
            visited.add(path)
            waiting += list(_included(path, texts))
    return {path for path in visited if not path.endswith((".c", ".S"))}


def _included(path: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Paths that a file includes, found as a compiler does: beside it, then in the folders of headers."""
    for name in _INCLUDE.findall(texts[path]):
        places = (PurePosixPath(path).parent, *map(PurePosixPath, INCLUDE_FOLDERS))
        included = next((str(place / name) for place in places if str(place / name) in texts), None)
        if included is not None:
            yield included
