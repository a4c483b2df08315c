"""Forms that CMake builds: a package to install, a module of Zephyr, a component of ESP-IDF."""

from codegen.emit.c.c_text import fill
from codegen.errors import CodegenError, Message
from codegen.packages.contents import INCLUDE_FOLDERS, LICENCE, Package, PackageFiles
from codegen.packages.libraries import core_guard

RULES = ("-fno-strict-aliasing", "$<$<COMPILE_LANGUAGE:C>:-std=c11>")
"""Behind all other flags: a pool's bytes hold values of several types; gnu11 contracts sums of floats."""

_PRINTF_BYTES = 1536
"""Stack that an example's own calls may take."""


def product_in(package: Package, folder: str) -> dict[str, str]:
    """Sources and headers of a package as they lay in the build, below `folder`."""
    return {f"{folder}/{path}": text for path, text in package.texts.items() if path != LICENCE}


def views(package: Package) -> dict[str, object]:
    """What templates of CMake say of a package whose product lies below `src`."""
    return {
        "package": package,
        "sources": [f"src/{path}" for path in package.sources],
        "include_folders": [f"src/{path}" if path != "." else "src" for path in INCLUDE_FOLDERS],
        "headers": [f"src/{path}" for path in package.public_headers],
        "languages": "C ASM" if package.has_assembly else "C",
        "flags": [*package.product.level, *RULES],
    }


def cmake(package: Package) -> PackageFiles:
    """A CMake project that installs headers, one static library and a package for `find_package`."""
    said = views(package)
    name = package.name
    files = {
        **product_in(package, "src"),
        "LICENSE": package.texts[LICENCE],
        "CMakeLists.txt": fill("packages/cmake/CMakeLists.txt.j2", **said),
        f"cmake/{name}Config.cmake.in": fill("packages/cmake/Config.cmake.in.j2", **said),
        "example/CMakeLists.txt": fill("packages/cmake/example.txt.j2", **said),
        "example/main.c": fill("packages/main.c.j2", **said),
    }
    if package.product.compiler_flags:
        flags = " ".join(package.product.compiler_flags)
        files["toolchain.cmake"] = fill(
            "cmake/toolchain.cmake.j2", board=package.board, title=package.cpu, flags=flags
        )
    return PackageFiles(files=files, binaries={f"data/{path}": data for path, data in package.data.items()})


def zephyr(package: Package) -> PackageFiles:
    """A module of Zephyr with Kconfig, pools as sections of its linker script, and a sample."""
    said = views(package) | {
        "symbol": f"MODEL_{package.name.upper()}",
        "guard": core_guard(package, "src"),
        "stack_bytes": _stack_bytes(package),
        "has_fpu": any(flag.startswith("-mfpu=") for flag in package.product.compiler_flags),
    }
    sample = f"samples/{package.name}"
    return PackageFiles(
        files={
            **product_in(package, "src"),
            **core_guard(package, "src"),
            "LICENSE": package.texts[LICENCE],
            "zephyr/module.yml": fill("packages/zephyr/module.yml.j2", **said),
            "Kconfig": fill("packages/zephyr/Kconfig.j2", **said),
            "CMakeLists.txt": fill("packages/zephyr/CMakeLists.txt.j2", **said),
            **{
                f"zephyr/pool_{pool.name}.ld.in": fill("packages/zephyr/pool.ld.in.j2", pool=pool)
                for pool in package.pools
            },
            f"{sample}/CMakeLists.txt": fill("packages/zephyr/sample.txt.j2", **said),
            f"{sample}/prj.conf": fill("packages/zephyr/prj.conf.j2", **said),
            f"{sample}/sample.yaml": fill("packages/zephyr/sample.yaml.j2", **said),
            f"{sample}/src/main.c": fill("packages/main.c.j2", **said),
        },
        binaries={f"data/{path}": data for path, data in package.data.items()},
    )


def _stack_bytes(package: Package) -> int:
    """Stack of a thread that runs a model and prints: the static bound and as much again as printf takes."""
    elf = package.report.elf
    bound = elf.stack_bound_bytes if elf is not None and elf.stack_bound_bytes is not None else 2048
    return -(-(bound + _PRINTF_BYTES) // 1024) * 1024


def esp_idf(package: Package) -> PackageFiles:
    """A component of ESP-IDF with a project that uses it. Raises CodegenError E294 for another core."""
    if not package.is_portable:
        text = f"has kernels for {package.cpu}; an ESP32 has a core of Xtensa or RISC-V"
        help_ = "codegen build … --board host gives portable C; export that"
        raise CodegenError(Message(code="E294", where="--as esp-idf", text=text, help=help_))
    said = views(package)
    return PackageFiles(
        files={
            **product_in(package, "src"),
            "LICENSE": package.texts[LICENCE],
            "CMakeLists.txt": fill("packages/esp_idf/CMakeLists.txt.j2", **said),
            "idf_component.yml": fill("packages/esp_idf/idf_component.yml.j2", **said),
            "examples/basic/CMakeLists.txt": fill("packages/esp_idf/project.txt.j2", **said),
            "examples/basic/main/CMakeLists.txt": fill("packages/esp_idf/main.txt.j2", **said),
            "examples/basic/main/main.c": fill("packages/main.c.j2", **said, entry="void app_main(void)"),
        },
        binaries={f"data/{path}": data for path, data in package.data.items()},
    )
