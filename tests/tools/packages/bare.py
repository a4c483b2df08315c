"""Programs for the Cortex-M4 of QEMU that print: start-up, linker script, semihosting, newlib beneath printf.

Packages are tested with it in the place of a vendor's start-up code.
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.importers import load
from codegen.ir.evaluate import evaluate
from codegen.targets.arm import ARM_PREFIX
from tests.commands import codegen

BOARD = "mps2-an386"
GCC = f"{ARM_PREFIX}gcc"
needs_tools = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cmake", "qemu-system-arm", GCC)), reason="tools are missing"
)

_SCRIPT = """
ENTRY(start)
SECTIONS
{
    . = 0x00000000;
    .text : { KEEP(*(.vectors)) *(.text .text.* .rodata .rodata.*) }
    .ARM.exidx : { __exidx_start = .; *(.ARM.extab* .ARM.exidx*) __exidx_end = .; }
    . = 0x20000000;
    .data : { *(.data .data.*) }
    .pools (NOLOAD) : { *(.bss.cg.*) }
    .bss : { *(.bss .bss.* COMMON) }
    end = ALIGN(8);
}
"""
_START = """
#include <stdint.h>
int main(void);
void start(void);
int _write(int file, const char *text, int bytes);
static uint8_t stack[32768] __attribute__((aligned(8)));
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack[sizeof stack], (const void *)start,
};
static void semihost(uint32_t what, const void *words)
{
    register uint32_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = words;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
int _write(int file, const char *text, int bytes)
{
    (void)file;
    for (int i = 0; i < bytes; i++) {
        semihost(3u, &text[i]);
    }
    return bytes;
}
void start(void)
{
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* FPU on */
    __asm__ volatile("dsb\\n\\tisb" ::: "memory");
    const int status = main();
    const uint32_t block[2] = {0x20026u, (uint32_t)status};
    semihost(0x20u, block);
}
"""


def flags() -> list[str]:
    """What the board's core is compiled for."""
    return list(load_board(BOARD).target.compiler_flags)


def call(*words: str | Path, folder: Path | None = None) -> str:
    """What a tool printed; it must end well."""
    done = subprocess.run(
        [str(word) for word in words], check=False, capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Bare:
    """Start-up and linker script in a folder."""

    def __init__(self, folder: Path) -> None:
        self.script, self.start = folder / "bare.ld", folder / "start.o"
        self.script.write_text(_SCRIPT)
        (folder / "start.c").write_text(_START)
        call(GCC, *flags(), "-Os", "-c", folder / "start.c", "-o", self.start)

    @property
    def _link(self) -> list[str]:
        return ["-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments", f"-T{self.script}"]

    @property
    def link_flags(self) -> list[str]:
        """What makes an image of objects with a `main`."""
        return [*flags(), str(self.start), "-nostartfiles", "--specs=nosys.specs", *self._link]


def printed(image: Path) -> list[str]:
    """Lines that an image prints on QEMU until its `main` returns 0."""
    words = ["-display", "none", "-monitor", "none", "-serial", "none", "-semihosting", "-kernel", str(image)]
    machine = load_board(BOARD).qemu_machine or ""
    done = subprocess.run(
        ["qemu-system-arm", "-M", machine, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.rstrip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def expected(model: Path, name: str, output: str) -> str:
    """The line that an example prints of a classifier with one int8 input and output: of the example's first
    held-out image for the shipped example, of zeros for any other model."""
    module = load(model)
    type_ = module.main.params[0].type
    if name == "digits":
        sample = np.load(model.with_name("digits_test.npz"))["x"][0].reshape(type_.shape)
    else:
        sample = np.full(type_.shape, type_.zero_point, np.int8)
    [result] = evaluate(module, module.main, [sample])
    scores, quantised = result.ravel(), module.main.results[0].type
    best = int(np.argmax(scores))
    real = np.float32(quantised.scale) * np.float32(int(scores[best]) - quantised.zero_point)
    return f"{name}.{output}: class {best}, value {int(np.float32(1000) * real)}/1000"


def export(folder: Path, form: str, target: Path, *words: str) -> Path:
    """`codegen export`, which must end well."""
    assert codegen("export", folder, "--as", form, "-o", target, "-q", *words) == 0
    return target
