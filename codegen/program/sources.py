"""What emit hands on and the toolchain makes of it: generated files, a linked image."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """A folder of generated files: path below the folder (with `/`) -> text.

    Runtime files are copied in too, so the folder builds alone. `c_files` and `s_files` are what
    is compiled into the firmware, `model_files` the subset that makes up the product code
    (entry function and kernels: no start-up, no test link).
    """

    files: Mapping[str, str]
    c_files: tuple[str, ...]
    model_files: tuple[str, ...]
    include_dirs: tuple[str, ...]
    linker_script: str | None
    entry_functions: tuple[str, ...]
    """C names of the entry functions, one a model, in order."""
    callbacks: tuple[str, ...] = ()
    """Functions that an application defines and the entry functions call (the test link has its own)."""
    other_functions: tuple[str, ...] = ()
    """Functions of the product beside them that an application calls and no entry function does."""
    core1_functions: tuple[str, ...] = ()
    """Functions that core 1 runs when an entry function posts them."""
    binaries: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Files that hold no text: path -> content."""
    prefix: str
    """C prefix of the pools: `<prefix>_<pool>_pool`."""
    build_sha256: str = "0" * 64
    """Build identity: SHA-256, in hexadecimal, of all that is linked (sources, headers, linker script) and of
    what compiles it. The test firmware answers it (`cg_bench_build_sha256`), report.json has it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", MappingProxyType(dict(self.files)))
        object.__setattr__(self, "binaries", MappingProxyType(dict(self.binaries)))
        missing = [path for path in (*self.c_files, *self.model_files) if path not in self.files]
        if missing:
            raise ValueError(f"sources lack {missing}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ElfSizes:
    """Bytes of an image by kind. `model_code_bytes`: the entry functions and all they call."""

    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    bss_bytes: int
    model_code_bytes: int
    stack_bound_bytes: int | None
    """Static bound of the entry function's call tree; None where the host's compiler is used."""
    core1_stack_bound_bytes: int | None = None
    """That of what runs on core 1; None where nothing does."""
    stack_bounds: Mapping[str, int] = field(default_factory=dict[str, int])
    """C function that an application calls -> static bound of its call tree; empty on the host."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A linked firmware (ELF) or, for the host, a shared library; `symbols` maps name -> (address, bytes)."""

    path: Path
    sizes: ElfSizes
    symbols: Mapping[str, tuple[int, int]]
    sections: Mapping[str, tuple[int, int]]
    """Section name -> (address, bytes)."""
    build_sha256: str
    """Identity of the build, in hexadecimal; see `Sources`."""
