"""Emitted folders as static libraries, as several teams hand them over, and images that hold several."""

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codegen import emit, toolchain
from codegen.board import load_board
from codegen.driver.build import Share, model_name, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.emit.c.spelling import scalar
from codegen.joint import together
from codegen.targets.arm import ARM_PREFIX
from codegen.toolchain import Optimize, gcc
from tests.networks import model_path

BOARD = "mps2-an386"
RIGHT, WRONG_FIRST, WRONG_SECOND = 0, 1, 2
"""What an image of two says; bits."""

_SCRIPT = """
ENTRY(start)
SECTIONS
{
    . = 0x00000000;
    .text : { KEEP(*(.vectors)) *(.text .text.* .rodata .rodata.*) }
    .ARM.exidx : { *(.ARM.extab* .ARM.exidx*) }
    . = 0x20000000;
    .data : { *(.data .data.* .bss .bss.* COMMON) }
}
"""
_START = """
#include <stdint.h>
int check_first(void);
int check_second(void);
void start(void);
static uint8_t stack[16384] __attribute__((aligned(8)));
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack[sizeof stack], (const void *)start,
};
void start(void)
{
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* FPU on */
    __asm__ volatile("dsb\\n\\tisb" ::: "memory");
    uint32_t block[2] = {0x20026u, (uint32_t)(check_first() + 2 * check_second())};
    register uint32_t r0 __asm__("r0") = 0x20u; /* SYS_EXIT_EXTENDED */
    register uint32_t *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
"""
_CHECK = """
#include <string.h>
#include "{name}.h"
int FUNCTION(void);
int FUNCTION(void)
{{
    static const int8_t x[] = {{{x}}};
    static const int8_t expected[] = {{{y}}};
    static int8_t y[sizeof expected];
    memset(y, 0x55, sizeof y);
    if ({name}_run(&({name}_inputs){{.{input} = x}}, &({name}_outputs){{.{output} = y}}) != CG_OK) {{
        return 1;
    }}
    return memcmp(y, expected, sizeof y) == 0 ? 0 : 1;
}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """A folder's product in an archive; `check`: (object that checks one inference, as first or second model
    of an image)."""

    label: str
    name: str
    folder: Path
    archive: Path
    checks: tuple[Path, Path]


class Shop:
    """Compiles folders for `BOARD` and links what they give."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._flags = [*load_board(BOARD).target.compiler_flags, "-std=c11"]
        self._gcc = gcc.tool(f"{ARM_PREFIX}gcc")
        (place / "link.ld").write_text(_SCRIPT)
        (place / "start.c").write_text(_START)
        self.call("-Os", "-c", "start.c", "-o", "start.o", place=place)

    def call(self, *words: str, place: Path) -> None:
        """The cross compiler; raises CalledProcessError with what it said."""
        command = [self._gcc, *self._flags, *words]
        subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)

    def library(self, key: str, optimize: Optimize, case: Case) -> Library:
        """The folder of an int8 network of one input and one output, and its archive."""
        label = f"{key}-{optimize}"
        name, folder = model_name(model_path(key)), self._place / label
        options = Options(board=BOARD, optimize=optimize)
        program = plan_model(
            model_path(key), load_board(BOARD), options, share=Share(name=name), emulated=True
        ).program
        level = toolchain.LEVELS[optimize]
        sources = emit.render(together([program]), level)
        emit.write(sources, folder)
        words = (level, "-ffunction-sections", "-fdata-sections", "-fno-strict-aliasing")
        includes = ("-I.",)
        objects = [f"{index}_{Path(path).stem}.o" for index, path in enumerate(sources.model_files)]
        tasks: list[tuple[str, ...]] = [
            (*words, *includes, "-c", path, "-o", object_)
            for path, object_ in zip(sources.model_files, objects, strict=True)
        ]
        assert case.known_outputs is not None
        text = _CHECK.format(
            name=name,
            x=", ".join(scalar(int(value)) for value in case.inputs[0].flat),
            y=", ".join(scalar(int(value)) for value in case.known_outputs[0].flat),
            input=program.signature.inputs[0].field,
            output=program.signature.outputs[0].field,
        )
        (folder / "check.c").write_text(text)
        for which in ("first", "second"):
            define = f"-DFUNCTION=check_{which}"
            tasks.append(("-Os", define, *includes, "-c", "check.c", "-o", f"check_{which}.o"))
        with ThreadPoolExecutor(2) as pool:
            done = [pool.submit(self.call, *task, place=folder) for task in tasks]
        for each in done:
            each.result()
        archive = folder / "libmodel.a"
        ar = gcc.tool(f"{ARM_PREFIX}ar")
        subprocess.run([ar, "rcs", str(archive), *objects], cwd=folder, check=True)
        checks = (folder / "check_first.o", folder / "check_second.o")
        return Library(label=label, name=name, folder=folder, archive=archive, checks=checks)

    def link(self, first: Library, second: Library, *others: Library) -> Path:
        """An image that checks two models, the libraries in this order, the others behind them. Raises
        CalledProcessError with what the linker said."""
        image = self._place / f"{first.label}-{second.label}.elf"
        parts = ["start.o", str(first.checks[0]), str(second.checks[1])]
        archives = [str(each.archive) for each in (first, second, *others)]
        options = ("-nostartfiles", "-Wl,--gc-sections", "-Tlink.ld")
        self.call(*options, *parts, *archives, "-o", str(image), place=self._place)
        return image


def run(image: Path) -> int:
    """What the image says: RIGHT, or bits for what was wrong. Raises AssertionError if it did not end."""
    words = ["qemu-system-arm", "-M", load_board(BOARD).qemu_machine or "", "-display", "none"]
    words += ["-monitor", "none", "-serial", "none", "-semihosting", "-kernel", str(image)]
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    assert not done.stderr, done.stderr
    return done.returncode


def said(labels: Sequence[Library], error: subprocess.CalledProcessError) -> str:
    """What the linker said of these libraries, on one line."""
    return f"{[each.label for each in labels]}: {' '.join(str(error.stderr).split())}"
