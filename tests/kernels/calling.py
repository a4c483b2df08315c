"""The portable kernels compiled for this machine, and PrimFuncs called through them."""

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import cffi
import numpy as np

from codegen.ir import Target
from codegen.kernels import call, kernels_of_step
from codegen.kernels.primfunc import PrimFunc
from codegen.resources import folder, runtime_includes
from codegen.toolchain import gcc
from tests.kernels.layers import Layer

RUNTIME = folder("runtime_c")
INCLUDES = tuple(f"-I{path}" for path in runtime_includes())
ANY_TARGET = Target(cpu="cortex-m4")

WARNINGS = [
    *("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"),
    *("-Wcast-align=strict", "-Wcast-qual", "-Wundef", "-Wvla", "-Werror"),
]

GUARD_BYTES = 32
_GUARD = 0xC3


def sources() -> list[Path]:
    """The portable kernels: what is for one instruction set says so in its name. A step of an NPU calls a
    driver, which this machine has not (tests/e2e/test_npu.py runs it)."""
    special = ("_dsp", "_fpu", "_mve", "_rv32", "_v6m", "_v7m", "_zve32x", "npu_run")
    return sorted(path for path in (RUNTIME / "kernels").glob("*/*.c") if not path.stem.endswith(special))


def compile_library(target: Path, *flags: str, files: Sequence[Path] | None = None) -> Path:
    """Kernels in one shared object at `target`: of `files`, or all. The compiler says nothing of any.

    Each is compiled alone, so that its object is known again (tests/objects.py)."""
    compiler = shutil.which("gcc")
    assert compiler, "these tests compile the kernels for this machine: install gcc"
    options = ["-std=c11", "-O0", "-fno-strict-aliasing", "-fPIC", *WARNINGS, *flags]

    def call(*words: str) -> None:
        said = gcc.call([compiler, *options, *words], RUNTIME)
        assert said.returncode == 0 and not said.stderr, said.stderr

    with tempfile.TemporaryDirectory() as objects, ThreadPoolExecutor(max_workers=2) as pool:
        units = {f"{objects}/{number}.o": file for number, file in enumerate(files or sources())}
        for unit in [
            pool.submit(call, "-Iinclude", "-c", os.path.relpath(file, RUNTIME), "-o", made)
            for made, file in units.items()
        ]:
            unit.result()
        call("-shared", *units, "-o", str(target.resolve()))
    return target


def declarations() -> str:
    """Types and prototypes of the portable kernels' headers, as cffi reads them."""
    names = (
        "cg_kernels",
        *(f"cg_kernels_{part}" for part in ("s16", "families", "signal", "detection", "qlinear")),
    )
    text = "".join((RUNTIME / "include" / f"{name}.h").read_text() for name in names)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"static inline [^{;]*\{.*?\n\}", "", text, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    text = re.sub(r"^typedef u?int64_t .*cg_[su]64.*;$", "", text, flags=re.M)
    plain = (
        "float cg_f32",
        "int16_t cg_s16",
        "int32_t cg_s32",
        "int64_t cg_s64",
        "uint32_t cg_u32",
        "uint64_t cg_u64",
    )
    return "".join(f"typedef {each};\n" for each in plain) + text


@dataclass(kw_only=True, slots=True)
class Guarded:
    """Bytes between two guards. `skew` moves them off alignment."""

    size_bytes: int
    paint: int
    skew: int = 0
    start: int = field(init=False)
    _all: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        # Sixteen bytes more than needed, so that the start can be aligned whatever numpy returns.
        self._all = np.full(self.size_bytes + 2 * GUARD_BYTES + self.skew + 16, _GUARD, np.uint8)
        base = self._all.ctypes.data + GUARD_BYTES
        self.start = GUARD_BYTES + (-base % 16) + self.skew
        self.bytes[:] = self.paint

    @property
    def bytes(self) -> np.ndarray:
        return self._all[self.start : self.start + self.size_bytes]

    @property
    def guards(self) -> tuple[np.ndarray, np.ndarray]:
        """The bytes before and behind."""
        return self._all[: self.start], self._all[self.start + self.size_bytes :]

    def check(self) -> None:
        assert (np.concatenate(self.guards) == _GUARD).all(), "the kernel wrote outside its buffer"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    result: bytes
    workspaces: dict[str, bytes]


class Library:
    """The compiled kernels. With `poison`, AddressSanitizer (preloaded) also catches reads of the guards."""

    def __init__(self, path: Path, *, poison: bool = False) -> None:
        self._ffi = cffi.FFI()
        self._sanitizer: Any = None
        if poison:
            self._ffi.cdef("void __asan_poison_memory_region(void *, size_t);")
            self._ffi.cdef("void __asan_unpoison_memory_region(void *, size_t);")
            self._sanitizer = self._ffi.dlopen(None)
        self._ffi.cdef(declarations())
        self._lib = self._ffi.dlopen(str(path))

    def run(
        self, function: PrimFunc, layer: Layer, *, paint: int, overlap: tuple[int, int] | None = None
    ) -> Outcome:
        """Call the kernel on the layer's values, every buffer painted and guarded.

        `overlap` = (argument, distance): the result starts `distance` bytes below that argument, in one
        arena with it. Else everything lies apart, byte buffers at odd addresses.
        """
        buffers: list[Guarded] = []
        places: dict[int, np.ndarray] = {}
        skew = 1 if function.argument_alignment == 1 else 0
        result_bytes = layer.let.var.type.size_bytes
        if overlap is not None:
            argument, distance = overlap
            size = self._values(layer, argument).size
            low = min(0, distance)
            arena = Guarded(size_bytes=max(distance + size, result_bytes) - low, paint=paint)
            buffers.append(arena)
            places[argument] = arena.bytes[distance - low : distance - low + size]
            result = arena.bytes[-low : result_bytes - low]
        else:
            own = Guarded(size_bytes=result_bytes, paint=paint, skew=skew)
            buffers.append(own)
            result = own.bytes
        for index, value in enumerate(layer.values):
            if value is not None and index not in places:
                apart = Guarded(size_bytes=value.nbytes, paint=paint, skew=skew)
                buffers.append(apart)
                places[index] = apart.bytes
        for index, place in places.items():
            place[:] = self._values(layer, index)
        spaces = {w.name: Guarded(size_bytes=w.size_bytes, paint=paint) for w in function.workspaces}
        buffers.extend(spaces.values())
        self._mark(buffers, poisoned=True)
        self._call(function, places, result, {name: space.bytes for name, space in spaces.items()})
        self._mark(buffers, poisoned=False)
        for buffer in buffers:
            buffer.check()
        return Outcome(
            result=result.tobytes(),
            workspaces={name: space.bytes.tobytes() for name, space in spaces.items()},
        )

    def _mark(self, buffers: Sequence[Guarded], *, poisoned: bool) -> None:
        if self._sanitizer is None:
            return
        # By name: inside a class Python would mangle two leading underscores.
        mark = getattr(self._sanitizer, f"__asan_{'' if poisoned else 'un'}poison_memory_region")
        for buffer in buffers:
            for guard in buffer.guards:
                mark(self._address(guard), guard.size)

    @staticmethod
    def _values(layer: Layer, index: int) -> np.ndarray:
        value = layer.values[index]
        assert value is not None
        return np.frombuffer(value.tobytes(), np.uint8)

    def _call(
        self,
        function: PrimFunc,
        places: dict[int, np.ndarray],
        result: np.ndarray,
        spaces: dict[str, np.ndarray],
    ) -> None:
        keep: list[object] = []
        structs = {struct.suffix: self._struct(struct, function) for struct in function.structs}

        def passed(arg: call.CallArg) -> Any:
            match arg:
                case call.StructArg():
                    return structs[arg.suffix]
                case call.ValueArg():
                    return self._address(places[arg.index])
                case call.ResultArg():
                    return self._address(result)
                case call.WorkspaceArg():
                    return self._address(spaces[arg.name])
                case call.ConstantArg():
                    return self._address(function.constant(arg.role).data)
                case call.LiteralArg():
                    return arg.value
                case call.NullArg():
                    return self._ffi.NULL
                case call.ArrayArg():
                    array = self._ffi.new("const void *[]", [passed(item) for item in arg.items])
                    keep.append(array)
                    return array

        target = getattr(self._lib, function.symbol)
        types = self._ffi.typeof(target).args
        values = [
            self._ffi.cast(type_, value)
            if isinstance(value, self._ffi.CData) and type_.kind == "pointer"
            else value
            for type_, value in zip(types, map(passed, function.call_args), strict=True)
        ]
        target(*values)

    def _address(self, data: np.ndarray) -> Any:
        return self._ffi.cast("void *", data.ctypes.data)

    def _struct(self, struct: call.CStruct, function: PrimFunc) -> Any:
        made = self._ffi.new(f"{struct.c_type} *")
        self._assign(made, struct.fields, function)
        return made

    def _assign(self, target: Any, fields: Sequence[tuple[str, object]], function: PrimFunc) -> None:
        for name, value in fields:
            if isinstance(value, tuple):
                nested = cast("Sequence[tuple[str, object]]", value)
                self._assign(getattr(target, name), nested, function)
            elif isinstance(value, call.ConstantPointer):
                member = self._ffi.typeof(getattr(target, name))
                setattr(target, name, self._ffi.cast(member, function.constant(value.role).data.ctypes.data))
            elif name.startswith("["):
                target[int(name[1:-1])] = value
            else:
                setattr(target, name, value)


def bind(layer: Layer) -> PrimFunc:
    """The layer bound to the first kernel that takes it."""
    refusals: list[str | None] = []
    for kernel in kernels_of_step(layer.let):
        refusals.append(kernel.refusal(layer.let, ANY_TARGET))
        if refusals[-1] is None:
            return kernel.bind(layer.let, layer.constants, layer.let.var.name)
    raise AssertionError(refusals)


def check_result(layer: Layer, result: bytes) -> None:
    """Integers and moved bytes bit by bit, computed floats to 1e-5 of the largest."""
    expected = layer.expected
    if expected.dtype != np.float32:
        found = np.frombuffer(result, expected.dtype).reshape(expected.shape)
        np.testing.assert_array_equal(found, expected)
        return
    found = np.frombuffer(result, np.float32).reshape(expected.shape)
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
