"""Building for ARM and for the host: what comes out, and what a user reads when it does not.
The suite's ccache: it takes from each other what builds in different folders compile, C and assembly.
"""

import dataclasses
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.errors import CodegenError, ExitCode
from codegen.ir import Board
from codegen.program.image import Image, Sources
from codegen.toolchain import build, check_pools, elf, tools
from tests import objects
from tests.toolchain import fake_model


def built(folder: Path, board: Board, replace: fake_model.Edits | None = None, **options: object) -> Image:
    sources = fake_model.write(fake_model.sources(board, replace=replace), folder)
    return build(sources, folder, board, **options)  # type: ignore[arg-type]


def failure(folder: Path, board: Board, replace: fake_model.Edits | None = None) -> CodegenError:
    with pytest.raises(CodegenError) as raised:
        built(folder, board, replace)
    return raised.value


def test_arm_image_has_sections_symbols_and_sizes(tmp_path: Path) -> None:
    image = built(tmp_path, fake_model.arm_board())
    assert image.path == tmp_path / "firmware.elf"
    assert image.symbols["tiny_sram_pool"] == (0x20000000, 64)
    assert image.sections[".pool"] == (0x20000000, 64)
    assert image.sizes.bss_bytes == 64 and image.sizes.data_bytes == 0
    assert image.sizes.text_bytes == image.sections[".text"][1]
    assert image.sizes.rodata_bytes == image.sections[".rodata"][1]


def test_what_compiles_a_build_is_told_with_its_flags() -> None:
    arm, host = fake_model.arm_board(), fake_model.host_board()
    found = [tools(board, optimize) for board in (arm, host) for optimize in ("size", "speed")]
    assert len(set(found)) == 4
    assert found[0].startswith("arm-none-eabi-gcc ") and " -Os" in found[0]
    assert all(flag in found[0].split() for flag in arm.target.compiler_flags)
    assert found[3].startswith("gcc ") and " -O3" in found[3]


def test_only_the_image_is_added_to_the_folder(tmp_path: Path) -> None:
    image = built(tmp_path, fake_model.arm_board())
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {*fake_model.sources(fake_model.arm_board()).files, image.path.name}


@pytest.mark.usefixtures("uncached")
@pytest.mark.parametrize("board", [fake_model.arm_board(), fake_model.host_board()], ids=lambda b: b.name)
def test_two_folders_give_equal_bytes(tmp_path: Path, board: Board) -> None:
    short, long = tmp_path / "a", tmp_path / "another folder" / "deeper"
    images = [built(folder, board) for folder in (short, long)]
    assert images[0].path.read_bytes() == images[1].path.read_bytes()
    assert str(tmp_path).encode() not in images[0].path.read_bytes()


def test_model_code_is_the_product_without_hooks_and_unused_functions(tmp_path: Path) -> None:
    """-Os, so that nothing is inlined: entry function and three kernels as the symbol table sizes them."""
    image = built(tmp_path, fake_model.arm_board(), optimize="size")
    kernels = sum(image.symbols[f"tiny_{name}"][1] for name in fake_model.STEPS)
    assert "tiny_unused" not in image.symbols
    hooked_entry = image.symbols["tiny_run"][1]
    assert kernels < image.sizes.model_code_bytes < kernels + hooked_entry
    # Six hook calls: movs r0, #n (2 bytes) and bl (4 bytes) each; the pool's address moves as it likes.
    assert abs(kernels + hooked_entry - 36 - image.sizes.model_code_bytes) <= 8


def test_levels_change_the_model_files_only(tmp_path: Path) -> None:
    sizes = {
        level: built(tmp_path / level, fake_model.arm_board(), optimize=level) for level in ("speed", "size")
    }
    assert sizes["speed"].sizes.model_code_bytes > sizes["size"].sizes.model_code_bytes
    assert sizes["speed"].symbols["reset"][1] == sizes["size"].symbols["reset"][1]


def test_missing_compiler_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = failure(tmp_path, fake_model.arm_board())
    assert error.exit_code is ExitCode.TOOLCHAIN
    assert str(error) == (
        "error[E501] arm-none-eabi-gcc is not installed or not in PATH\n"
        "help: install it: sudo apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"
    )
    assert "apt-get install gcc libc6-dev" in str(failure(tmp_path, fake_model.host_board()))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("x.c:1:10: fatal error: string.h: No such file or directory", "the C library of arm-none-eabi-gcc"),
        ("ld: cannot find -lc: No such file", "a library of arm-none-eabi-gcc, -lc,"),
    ],
)
def test_a_missing_c_library_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, text: str
) -> None:
    """A compiler that says what the real one says without newlib (for -lc, when it links)."""
    says = "*" if "string.h" in said else "*-T*"
    script = f'#!/bin/sh\ncase "$*" in {says}) echo "{said}" >&2; exit 1;; esac\n'
    (tmp_path / "arm-none-eabi-gcc").write_text(script)
    (tmp_path / "arm-none-eabi-gcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert str(failure(tmp_path, fake_model.arm_board())).splitlines()[:2] == [
        f"error[E501] {text} is not installed",
        "help: install it: sudo apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi",
    ]


def test_two_pools_on_one_another_are_refused(tmp_path: Path) -> None:
    image = built(tmp_path, fake_model.arm_board())
    symbols = {**image.symbols, "tiny_ccm_pool": (0x20000030, 16)}
    with pytest.raises(CodegenError, match="pool tiny_sram_pool: overlaps pool tiny_ccm_pool in the image"):
        check_pools(
            dataclasses.replace(image, symbols=symbols),
            fake_model.arm_board(),
            {"tiny_sram_pool": (64, 16), "tiny_ccm_pool": (16, 16)},
        )


def test_compile_errors_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    replace = {
        "tiny.c": ("return CG_OK;", "return CG_FINE;"),
        "runtime/kernels/tiny.c": ("out[0] = 1;", "out[0] = one;"),
    }
    error = failure(tmp_path, fake_model.arm_board(), replace)
    assert error.exit_code is ExitCode.TOOLCHAIN
    text = str(error)
    assert "error[E502] tiny.c:18: does not compile: 'CG_FINE' undeclared" in text
    assert "error[E502] runtime/kernels/tiny.c:26: does not compile: 'one' undeclared" in text
    assert "build again into a new folder" in text and "arm-none-eabi-gcc" in text
    assert not (tmp_path / "firmware.elf").exists()


def test_many_compile_errors_are_counted_not_listed(tmp_path: Path) -> None:
    lines = "\n".join(f"int bad{index} = x{index};" for index in range(12))
    error = failure(
        tmp_path, fake_model.host_board(), {"tiny.c": ("cg_status tiny_run", lines + "\ncg_status tiny_run")}
    )
    assert [message.text for message in error.messages][-1] == "4 more errors are not shown"
    assert len(error.messages) == 9


def test_a_region_that_overflows_says_how_much_it_lacks(tmp_path: Path) -> None:
    """8 KiB of SRAM, a pool of 64 bytes and an array of 10000: 1872 bytes too many."""
    replace = {"firmware/startup.c": ("void reset(void);", "volatile char more[10000];\nvoid reset(void);")}
    keep = {**replace, "firmware/link.ld": (".bss : { *(.bss .bss.*)", ".bss : { KEEP(*(.bss .bss.*))")}
    error = failure(tmp_path, fake_model.arm_board(), keep)
    assert error.exit_code is ExitCode.FIT
    assert str(error) == (
        "error[E410] region SRAM: the firmware does not fit: the region lacks 1872 bytes\n"
        "help: try --optimize size, a smaller pool (--pool NAME=BYTES) or a board with more memory"
    )


def test_what_is_used_and_nowhere_defined_is_named(tmp_path: Path) -> None:
    replace = {
        "runtime/kernels/tiny.c": (
            "out[i] = in[i] ^ in[i + 10u];",
            "extern uint8_t expf_of(uint8_t);\n        out[i] = expf_of(in[i]);",
        )
    }
    error = failure(tmp_path, fake_model.arm_board(), replace)
    assert "error[E503] does not link: `expf_of' is used" in str(error).replace("`expf_of`", "`expf_of'")


def test_a_heap_in_the_image_is_refused(tmp_path: Path) -> None:
    replace = {
        "firmware/startup.c": (
            "void reset(void);",
            "void *malloc(unsigned bytes);\nvoid *malloc(unsigned bytes)\n{\n    return (void *)bytes;\n}\n"
            "void reset(void);",
        ),
        "firmware/link.ld": ("KEEP(*(.vectors))", "KEEP(*(.vectors)) KEEP(*(.text.malloc))"),
    }
    text = str(failure(tmp_path, fake_model.arm_board(), replace))
    assert "error[E506] the image contains a heap: malloc" in text and "help:" in text


def test_a_pool_outside_its_region_is_refused(tmp_path: Path) -> None:
    text = str(failure(tmp_path, fake_model.arm_board(sram_address=0x20010000)))
    assert (
        "error[E507] pool tiny_sram_pool: lies at 0x20000000, outside region SRAM (0x20010000 to 0x20012000)"
        in text
    )


def test_pools_are_compared_with_the_plan(tmp_path: Path) -> None:
    board = fake_model.arm_board()
    image = built(tmp_path, board)
    check_pools(image, board, {"tiny_sram_pool": (64, 16)})
    with pytest.raises(CodegenError) as raised:
        check_pools(image, board, {"tiny_sram_pool": (80, 16), "tiny_ccm_pool": (16, 16)})
    assert str(raised.value).splitlines() == [
        "error[E507] pool tiny_sram_pool: has 64 bytes in the image, 80 in the plan",
        "error[E507] pool tiny_ccm_pool: is not in the image",
    ]


def test_the_base_of_a_pool_is_as_aligned_as_its_buffers_need(tmp_path: Path) -> None:
    board = fake_model.arm_board()
    image = built(tmp_path, board)
    moved = dataclasses.replace(image, symbols={**image.symbols, "tiny_sram_pool": (0x20000020, 64)})
    check_pools(moved, board, {"tiny_sram_pool": (64, 32)})
    with pytest.raises(CodegenError) as raised:
        check_pools(moved, board, {"tiny_sram_pool": (64, 64)})
    assert str(raised.value).splitlines() == [
        "error[E507] pool tiny_sram_pool: lies at 0x20000020, not at a multiple of 64 bytes",
        "help: the linker script must keep the alignment of .bss.cg sections",
    ]


def test_a_damaged_image_is_an_error_not_a_traceback(tmp_path: Path) -> None:
    image = built(tmp_path, fake_model.arm_board()).path
    image.write_bytes(image.read_bytes()[:100])
    with pytest.raises(CodegenError, match="is not a linked ELF file"):
        elf.read(image)


def test_sanitizers_are_for_the_host(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="host"):
        built(tmp_path, fake_model.arm_board(), sanitize=True)


def test_a_failed_build_keeps_the_last_image(tmp_path: Path) -> None:
    board = fake_model.arm_board()
    before = built(tmp_path, board).path.read_bytes()
    failure(tmp_path, board, {"tiny.c": ("return CG_OK;", "return CG_FINE;")})
    assert (tmp_path / "firmware.elf").read_bytes() == before
    assert shutil.which("arm-none-eabi-gcc")


needs_ccache = pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")
ASSEMBLY = """\
    .syntax unified
    .text
    .global tiny_more
    .type tiny_more, %function
tiny_more:
    bx lr
"""


def _with_assembly(sources: Sources) -> Sources:
    path = "runtime/kernels/tiny_more.S"
    return replace(
        sources,
        files={**sources.files, path: ASSEMBLY},
        c_files=(*sources.c_files, path),
        model_files=(*sources.model_files, path),
    )


def _counts() -> tuple[int, int]:
    """(compiled, taken from the cache) so far."""
    done = subprocess.run(["ccache", "--print-stats"], capture_output=True, text=True, check=True)
    counts = dict(line.split("\t") for line in done.stdout.splitlines())
    return int(counts["cache_miss"]), int(counts["direct_cache_hit"])


@needs_ccache
def test_a_build_in_another_folder_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word of ours, flags or files that name the folder would make each build compile all anew."""
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(objects.VARIABLE)
    board = fake_model.arm_board()
    sources = _with_assembly(fake_model.sources(board))
    images: list[bytes] = []
    counts: list[tuple[int, int]] = []
    for name in ("a", "another folder", "uncached"):
        if name == "uncached":
            monkeypatch.setenv("CCACHE_DISABLE", "1")
        folder = tmp_path / name
        images.append(build(fake_model.write(sources, folder), folder, board).path.read_bytes())
        counts.append(_counts())
    compiled, taken = counts[0]
    # Four files of C and one of assembly, tiny.c with and without hooks.
    assert (compiled, taken) == (6, 0)
    assert counts[1:] == [(6, 6), (6, 6)]
    assert images[0] == images[1] == images[2]


@needs_ccache
def test_what_cmake_compiles_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CMake asks for a list of includes; a second target in it, of ours, was taken for a missing header."""
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "f.c").write_text("int f;\n")
    for _ in range(2):
        words = ["gcc", "-MD", "-MT", "f.o", "-MF", "f.d", "-o", "f.o", "-c", "f.c"]
        subprocess.run(words, cwd=tmp_path, check=True)
    assert _counts() == (1, 1)
