"""What an application's ELF leaves of every region: small applications compiled and linked here."""

import subprocess
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.cli import main
from codegen.errors import CodegenError
from codegen.toolchain import FreeRange, left_by, taken_ranges
from tests.networks import model_path

BOARD = load_board("netduinoplus2")
"""SRAM of 128 KiB at 0x20000000, CCM of 64 KiB at 0x10000000, FLASH at 0x08000000."""

SOURCE = """
__attribute__((section(".isr"), used)) const unsigned vectors[16] = {1};
char big[BIG];
int value = 5;
char fast[256] __attribute__((section(".ccm")));
char own[512] __attribute__((section(".bss.cg.ccm")));
void *_sbrk(int more) { return &big[more]; }
int main(void) { return value + big[3] + fast[1] + own[2]; }
"""

SCRIPT = """
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 1M
         RAM (rw) : ORIGIN = 0x20000000, LENGTH = 128K
         CCM (rw) : ORIGIN = 0x10000000, LENGTH = 64K
         ELSEWHERE (rw) : ORIGIN = 0x30000000, LENGTH = 64K }
SECTIONS
{
  .isr : { KEEP(*(.isr)) } > FLASH
  .text : { *(.text*) *(.rodata*) } > FLASH
  .data : { *(.data*) } > RAM AT > FLASH
  .bss (NOLOAD) : { *(.bss) *(COMMON) . = ALIGN(8); _end = .; } > RAM
  .ccm (NOLOAD) : { *(.ccm) } > CCM
  .bss.cg.ccm (NOLOAD) : { *(.bss.cg.ccm) } > CCM
  MORE
}
SYMBOLS
"""

STATED = "_estack = 0x20020000; _Min_Stack_Size = 0x400; _Min_Heap_Size = 0x200;"


def _link(folder: Path, *, big: int = 1000, more: str = "", symbols: str = STATED) -> Path:
    source, script, made = folder / "app.c", folder / "app.ld", folder / "app.elf"
    source.write_text(SOURCE)
    script.write_text(SCRIPT.replace("MORE", more).replace("SYMBOLS", symbols))
    flags = ["-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-fno-common", "-Wl,-e,main", f"-DBIG={big}"]
    subprocess.run(["arm-none-eabi-gcc", *flags, f"-T{script}", str(source), "-o", str(made)], check=True)
    return made


def _error(path: Path, board_name: str = "netduinoplus2") -> tuple[str, str]:
    with pytest.raises(CodegenError) as caught:
        taken_ranges(path, load_board(board_name))
    [message] = caught.value.messages
    return message.code, message.text


def _by_pool(path: Path) -> dict[str, FreeRange]:
    return {each.pool: each for each in left_by(taken_ranges(path, BOARD), BOARD)}


def test_what_is_left_between_heap_and_stack(tmp_path: Path) -> None:
    found = _by_pool(_link(tmp_path))
    # data 4, bss 1,000 rounded up to 8: _end at 0x200003f0; heap of 0x200; stack of 0x400 at the top.
    assert found["sram"] == FreeRange(pool="sram", address=0x200005F0, size_bytes=0x1FC00 - 0x5F0)
    # 256 bytes are the application's; our own pool behind them counts as free.
    assert found["ccm"] == FreeRange(pool="ccm", address=0x10000100, size_bytes=0xFF00)


def test_a_growing_application_leaves_less(tmp_path: Path) -> None:
    small = _by_pool(_link(tmp_path, big=1000))["sram"].size_bytes
    assert small - _by_pool(_link(tmp_path, big=1000 + 4096))["sram"].size_bytes == 4096


def test_the_largest_gap_is_taken(tmp_path: Path) -> None:
    """A section in the middle of the region: the larger side of it; an unaligned one is cut to 16 bytes."""
    more = ".dma 0x20008004 (NOLOAD) : { . += 8; } > RAM"
    found = _by_pool(_link(tmp_path, more=more))["sram"]
    assert found == FreeRange(pool="sram", address=0x20008010, size_bytes=0x1FC00 - 0x8010)
    more = ".dma 0x20018004 (NOLOAD) : { . += 8; } > RAM"
    found = _by_pool(_link(tmp_path, more=more))["sram"]
    assert found == FreeRange(pool="sram", address=0x200005F0, size_bytes=0x18000 - 0x5F0)


def test_nothing_left_is_no_range(tmp_path: Path) -> None:
    symbols = "_estack = 0x20020000; __StackLimit = _end + 0x200; _Min_Heap_Size = 0x200;"
    assert _by_pool(_link(tmp_path, symbols=symbols))["sram"].size_bytes == 0


def test_limits_of_stack_and_heap_count_before_sizes(tmp_path: Path) -> None:
    symbols = (
        "__StackTop = 0x20020000; __StackLimit = 0x2001f000; __HeapBase = _end; __HeapLimit = 0x20001000;"
    )
    found = _by_pool(_link(tmp_path, symbols=symbols))["sram"]
    assert found == FreeRange(pool="sram", address=0x20001000, size_bytes=0x1E000)


def test_a_stack_or_heap_without_an_end_is_refused(tmp_path: Path) -> None:
    code, text = _error(_link(tmp_path, symbols="_estack = 0x20020000; _Min_Heap_Size = 0;"))
    assert (code, text) == ("E272", "its stack begins at _estack, but no symbol says how far it may grow")
    code, text = _error(_link(tmp_path, symbols="_estack = 0x20020000; _Min_Stack_Size = 64;"))
    assert (code, text) == ("E272", "its heap begins at _end, but no symbol says how far it may grow")


def test_sections_outside_the_board_are_named(tmp_path: Path) -> None:
    more = ".far (NOLOAD) : { . += 16; } > ELSEWHERE"
    code, text = _error(_link(tmp_path, more=more))
    assert (code, text) == (
        "E273",
        "section .far (0x30000000 to 0x30000010) lies in no region of netduinoplus2",
    )


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("no ELF")
    assert _error(other)[0] == "E270"
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["arm-none-eabi-gcc", "-c", str(source), "-o", str(other)], check=True)
    assert _error(other) == ("E270", "is not linked (ET_REL): its addresses are not known")
    subprocess.run(["gcc", str(source), "-o", str(other)], check=True)
    code, text = _error(other)
    assert code == "E271" and text.endswith("bits; netduinoplus2 has a cortex-m4")
    assert _error(tmp_path / "nowhere.elf") == ("E204", "no such file")
    whole = _link(tmp_path).read_bytes()
    other.write_bytes(whole[: len(whole) // 3])
    code, text = _error(other)
    assert code == "E270" and "damaged" in text


def _plan(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(model_path("ds_cnn")), *words])
    return int(ended.value.code or 0)


def test_plans_follow_the_application(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """kws needs 8,512 bytes by default: less is found where the application leaves less, else E401."""
    made = _link(tmp_path, big=0x1FC00 - 0x200 - 16 - 8_400)
    room = _by_pool(made)["sram"].size_bytes
    assert 8_300 < room < 8_512
    words = ("--board", "netduinoplus2", "--app-elf", str(made), "--pool", "ccm=0")
    assert _plan(*words) == 0
    out = capsys.readouterr().out
    assert f"app       leaves {room:,} bytes of sram at 0x" in out
    made = _link(tmp_path, big=0x1FC00 - 0x200 - 16)
    assert _plan(*words) == 4
    assert "error[E401] pool sram: lacks" in capsys.readouterr().err


def test_an_application_needs_a_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = _link(tmp_path)
    assert _plan("--app-elf", str(made)) == 2
    assert "error[E274] --app-elf: there is no board" in capsys.readouterr().err
    assert _plan("--app-elf", str(made), "--board", "host") == 2


def test_a_pool_over_what_the_application_uses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pool was cut out of the memory first, then the application's .bss was said to lie in no region of
    the board (E273): nothing told that the pool is in the way. What is offered is accepted."""
    made = _link(tmp_path)
    words = ("--board", "netduinoplus2", "--app-elf", str(made))
    assert _plan(*words, "--pool", "spare=8K@0x20000200") == 2
    assert capsys.readouterr().err == (
        "error[E275] --pool spare=8192@0x20000200: lies over what app.elf uses: section .bss (0x20000004 to "
        "0x200003f0), the heap from _end (0x200003f0 to 0x200005f0)\n"
        "help: try --pool spare=8192@0x2001dc00; the largest range that is left in SRAM is 125,952 bytes "
        "from 0x20001000 on; in SRAM lie section .data (0x20000000 to 0x20000004), the test firmware "
        "(0x20000000 to 0x20001000), section .bss (0x20000004 to 0x200003f0), the heap from _end (0x200003f0 "
        "to 0x200005f0), the stack below _estack (0x2001fc00 to 0x20020000)\n"
    )
    assert _plan(*words, "--pool", "spare=8192@0x2001dc00") == 0
    # What is left is smaller than what was asked for, and the test firmware has its bytes before it.
    assert _plan(*words, "--pool", "spare=128K@0x20000000") == 2
    offered = capsys.readouterr().err.split("try ")[1].split(";")[0].split()
    assert offered == ["--pool", "spare=125952@0x20001000"]
    assert _plan(*words, *offered) == 0
    # Two pools: the place of one is not offered for the other.
    assert _plan(*words, "--pool", "one=4K@0x2001e000", "--pool", "two=4K@0x2001f000") == 2
    told = capsys.readouterr().err
    assert ", pool one (0x2001e000 to 0x2001f000), the stack below _estack (" in told
    offered = told.split("try ")[1].split(";")[0].split()
    assert offered == ["--pool", "two=4096@0x2001d000"]
    assert _plan(*words, "--pool", "one=4K@0x2001e000", *offered) == 0


def test_a_pool_where_the_application_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    symbols = "_estack = 0x20020000; __StackLimit = _end + 0x200; _Min_Heap_Size = 0x200;"
    made = _link(tmp_path, symbols=symbols)
    words = ("--board", "netduinoplus2", "--app-elf", str(made))
    assert _plan(*words, "--pool", "spare=1K@0x20008000") == 2
    # Only the stack was named, though the stack alone is in the pool's way, not in that of all others.
    assert capsys.readouterr().err == (
        "error[E275] --pool spare=1024@0x20008000: lies over what app.elf uses: the stack below _estack "
        "(0x200005f0 to 0x20020000)\n"
        "help: nothing of SRAM is left: another memory, or a smaller application; in SRAM lie section .data "
        "(0x20000000 to 0x20000004), the test firmware (0x20000000 to 0x20001000), section .bss (0x20000004 "
        "to 0x200003f0), the heap from _end (0x200003f0 to 0x200005f0), the stack below _estack (0x200005f0 "
        "to 0x20020000)\n"
    )
