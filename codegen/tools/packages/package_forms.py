"""The forms that a package can have: one table, one function a form."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codegen.api import usage
from codegen.tools.packages.cmake import cmake, cmake_steps, esp_idf, zephyr
from codegen.tools.packages.contents import Package, PackageFiles
from codegen.tools.packages.libraries import arduino, cmsis_pack, platformio
from codegen.tools.packages.mlf import mlf
from codegen.tools.packages.package_templates import fill


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageForm:
    """Layout of a package for one build system."""

    title: str
    """For lists: the build system."""
    lay_out: Callable[[Package], PackageFiles]
    """Raises CodegenError E294 for kernels that its cores do not run."""
    steps: Callable[[Package, str], Sequence[str]]
    """Commands that come next for a package that lies in a folder."""

    def files(self, package: Package) -> PackageFiles:
        """All files of a package, README.md among them. Raises as `lay_out` does."""
        laid_out = self.lay_out(package)
        readme = fill(
            "readme.md.j2",
            package=package,
            title=self.title,
            steps=self.steps(package, "."),
            usage=usage(
                package.product,
                package.texts,
                [(pool.name, pool.size_bytes, pool.section) for pool in package.pools],
                [(pool.name, pool.size_bytes, pool.section) for pool in package.constant_pools],
            ),
        )
        return replace(laid_out, files={**laid_out.files, "README.md": readme})

    def next_steps(self, package: Package, folder: Path) -> Sequence[str]:
        """The steps with `folder` as a shell takes it."""
        return self.steps(package, shlex.quote(str(folder)))


def _zephyr_steps(package: Package, folder: str) -> Sequence[str]:
    return [f"west build -b BOARD {folder}/samples/{package.name}"]


def _arduino_steps(package: Package, folder: str) -> Sequence[str]:
    return [f"arduino-cli compile -b BOARD --library {folder} {folder}/examples/{package.name}"]


def _platformio_steps(package: Package, folder: str) -> Sequence[str]:
    return [f"pio run -d {folder}/examples/{package.name}"]


def _esp_idf_steps(_: Package, folder: str) -> Sequence[str]:
    return [f"idf.py -C {folder}/examples/basic build"]


def _cmsis_steps(package: Package, folder: str) -> Sequence[str]:
    pack = f"{package.vendor}.{package.name}.{package.version}.pack"
    return [f"(cd {folder} && python3 -m zipfile -c ../{pack} *)"]


def _mlf_steps(package: Package, folder: str) -> Sequence[str]:
    return [f"tar -C {folder} --exclude=.codegen -cf {package.name}.tar ."]


FORMS: Mapping[str, PackageForm] = {
    "cmake": PackageForm(title="CMake: installable, found by find_package", lay_out=cmake, steps=cmake_steps),
    "zephyr": PackageForm(
        title="Zephyr: a module with Kconfig and a sample", lay_out=zephyr, steps=_zephyr_steps
    ),
    "arduino": PackageForm(
        title="Arduino: a library of format 1.5 with a sketch", lay_out=arduino, steps=_arduino_steps
    ),
    "platformio": PackageForm(
        title="PlatformIO: a library with library.json", lay_out=platformio, steps=_platformio_steps
    ),
    "esp-idf": PackageForm(
        title="ESP-IDF: a component with a project", lay_out=esp_idf, steps=_esp_idf_steps
    ),
    "cmsis-pack": PackageForm(
        title="CMSIS: a pack with one component", lay_out=cmsis_pack, steps=_cmsis_steps
    ),
    "mlf": PackageForm(title="TVM: Model Library Format 7", lay_out=mlf, steps=_mlf_steps),
}
