"""Boards that ship, and what a user is told of a board file with mistakes.
QEMU's plugin interface changed in 9.0 and 9.1: on Debian 13 (QEMU 10) the cycle plugin did not load.
"""

import dataclasses
import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen import resources, toolchain
from codegen.board import boards, load_board
from codegen.board.machines.qemu import api_of
from codegen.errors import CodegenError, ExitCode
from codegen.ir import Board, CacheKind, Runner
from codegen.targets.arm import FAMILY

SHIPPED = resources.folder("boards")


def edited(folder: Path, *edits: tuple[str, str], base: str = "netduinoplus2") -> str:
    text = (SHIPPED / f"{base}.toml").read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def complaints(path: str) -> dict[str | None, str]:
    with pytest.raises(CodegenError) as raised:
        load_board(path)
    assert raised.value.exit_code is ExitCode.USAGE
    return {message.where: message.text for message in raised.value.messages}


def without_lines(found: dict[str | None, str]) -> dict[str, str]:
    """The line numbers have a test of their own."""
    return {re.sub(r":\d+: |: ", ": ", where or "", count=1): text for where, text in found.items()}


def test_every_board_of_the_interface_ships() -> None:
    names = {board.name for board in boards() if board.runner is not Runner.NONE}
    assert names == {
        "netduinoplus2", "stm32vldiscovery", "mps2-an385", "mps2-an386", "mps2-an500",
        "mps2-an505", "mps2-an521", "mps3-an547", "microbit", "lm3s6965evb", "host", "qemu-virt-rv32",
        "qemu-virt-rv32x2", "qemu-virt-rv32b", "qemu-virt-rv32f", "qemu-virt-rv32v", "hifive1",
    }  # fmt: skip
    assert all(
        board.name == path.stem for board, path in zip(boards(), sorted(SHIPPED.glob("*.toml")), strict=True)
    )


def test_a_board_that_ships_is_read_once_and_a_users_file_every_time(tmp_path: Path) -> None:
    """Whoever asked for a board again and again read its file again and again: two tests did for 12 s."""
    assert load_board("mps2-an386") is load_board("mps2-an386")
    titles = [load_board(edited(tmp_path, ('title = "', f'title = "{number} '))).title for number in "12"]
    assert [title[:2] for title in titles] == ["1 ", "2 "]


def test_a_board_with_every_chip_that_was_asked_for() -> None:
    titles = "\n".join(board.title for board in boards())
    chips = (
        "STM32F405 STM32F407 STM32F411 STM32F446 STM32F746 STM32F767 STM32H743 STM32H723 STM32H563 STM32U585 "
        "STM32L475 STM32L4R5 STM32G071 STM32G474 STM32N657 nRF52840 nRF5340 nRF54L15 RP2040 RP2350 RT1062 "
        "ATSAMD51 Apollo4 EFR32MG24 RA8M1"
    )
    assert [chip for chip in chips.split() if chip not in titles.replace("R7FA8M1", "RA8M1")] == []
    assert len([board for board in boards() if board.runner is Runner.NONE]) >= 25


def test_every_board_says_where_its_figures_come_from() -> None:
    real = [board for board in boards() if board.runner is not Runner.HOST]
    assert [board.name for board in real if len(board.sources) < 2 or not board.vendor] == []
    assert [board.name for board in real if board.rated_clock_hz <= 0] == []
    assert [
        board.name for board in real if board.runner is Runner.NONE and board.uart and not board.uart.untested
    ] == []


def test_no_region_of_a_board_overlaps_another() -> None:
    """On its own: what the catalogue checks on reading is not asked."""
    for board in boards():
        if board.runner is not Runner.HOST:
            for one, other in itertools.combinations(board.regions, 2):
                apart = (
                    one.address + one.size_bytes <= other.address
                    or other.address + other.size_bytes <= one.address
                )
                assert apart, (board.name, one.name, other.name)


def test_access_costs_follow_from_wait_states_where_those_are_published() -> None:
    """The rule of docs/boards.md; a region with an estimate of its own says so beside it."""
    estimated = {("stm32f746g-disco", "SRAM"), ("nucleo-f767zi", "SRAM")}
    for board in boards():
        for region in board.regions:
            if region.wait_states is not None and (board.name, region.name) not in estimated:
                expected = 1 + region.wait_states * 4 / region.fetch_bytes
                assert region.access_cost == expected, (board.name, region.name)


def test_the_stm32h743_has_its_seven_banks() -> None:
    """RM0433, Embedded SRAM: the TCMs are the core's, SRAM1 to SRAM3 are one run of addresses."""
    board = load_board("nucleo-h743zi")
    kib = {
        region.pool_name: (region.address, region.size_bytes >> 10)
        for region in board.regions
        if region.writable
    }
    assert kib == {
        "itcm": (0x0000_0000, 64),
        "dtcm": (0x2000_0000, 128),
        "axi": (0x2400_0000, 512),
        "sram1": (0x3000_0000, 128),
        "sram2": (0x3002_0000, 128),
        "sram3": (0x3004_0000, 32),
        "sram4": (0x3800_0000, 64),
    }
    assert [region.name for region in board.regions if not region.dma] == ["DTCM", "ITCM"]
    assert all(region.cacheable != region.name.endswith("TCM") for region in board.regions)


@pytest.mark.parametrize("board", [board for board in boards() if board.caches], ids=lambda board: board.name)
def test_only_what_lies_behind_a_data_cache_of_the_core_is_cacheable(board: Board) -> None:
    has_data_cache = any(cache.kind is CacheKind.DATA for cache in board.caches)
    behind = [region.name for region in board.regions if region.cacheable]
    tightly_coupled = [region.name for region in board.regions if region.name.endswith("TCM")]
    assert bool(behind) == has_data_cache
    if has_data_cache:
        assert set(behind) == {region.name for region in board.regions} - set(tightly_coupled)


def test_stm32_is_the_chip_with_its_real_memory() -> None:
    board = load_board("stm32")
    assert board.name == "netduinoplus2" and board.target.cpu == "cortex-m4"
    assert {region.pool_name: region.size_bytes for region in board.regions if region.writable} == {
        "sram": 128 << 10,
        "ccm": 64 << 10,
    }
    assert not board.region("CCM").emulated
    (hole,) = board.holes
    assert (hole.address, hole.address + hole.size_bytes) == (0x2002_0000, 0x2003_0000)


def test_the_smallest_board_has_room_for_pools_of_6_kib() -> None:
    board = load_board("stm32vldiscovery")
    assert board.region("SRAM").size_bytes - board.reserved_bytes >= 6 << 10


def test_a_board_file_of_ones_own(tmp_path: Path) -> None:
    board = load_board(edited(tmp_path, ('name = "netduinoplus2"', 'name = "mine"')))
    assert board == dataclasses.replace(load_board("netduinoplus2"), name="mine")
    assert board.runner is Runner.QEMU


def test_a_core_that_no_family_lists_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    """The Arm compiler was called for it, and the user asked to report what it said."""
    path = edited(
        tmp_path,
        ('cpu = "cortex-m4"', 'cpu = "xtensa-lx6"'),
        ('features = ["dsp", "fpu", "div"]', "features = []"),
        (
            'compiler_flags = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]',
            "compiler_flags = []",
        ),
    )
    with pytest.raises(CodegenError) as raised:
        load_board(path)
    line = Path(path).read_text().splitlines().index('cpu = "xtensa-lx6"') + 1
    assert str(raised.value) == (
        f"error[E252] mine.toml:{line}: target.cpu: no core family has a core 'xtensa-lx6': there are no "
        "kernels and no compiler for it\n"
        "help: cores by family: Armv6-M: cortex-m0, cortex-m0plus, cortex-m1; Armv8-M Baseline: cortex-m23; "
        "Armv7-M: cortex-m3; Armv7E-M: cortex-m4, cortex-m7; Armv8-M Mainline: cortex-m33, cortex-m35p; "
        "Armv8.1-M Mainline: cortex-m55, cortex-m85; host: host; RV32IM: bumblebee, e31, e907, "
        "esp32-c3, esp32-c6, esp32-p4, hazard3, qingke-v4b, qingke-v4f, rv32"
    )


def test_a_file_that_cannot_be_read_or_parsed(tmp_path: Path) -> None:
    assert complaints(str(tmp_path / "none.toml")) == {
        str(tmp_path / "none.toml"): "cannot be read: No such file or directory"
    }
    broken = tmp_path / "broken.toml"
    broken.write_text("name = \n")
    assert "is no TOML" in complaints(str(broken))[str(broken)]
    broken.write_bytes(b"\xff\xfe")
    assert "is no TOML" in complaints(str(broken))[str(broken)]


def test_sizes_of_a_board_as_people_write_them(tmp_path: Path) -> None:
    path = edited(tmp_path, ("size_bytes = 131_072", 'size_bytes = "128KiB"'))
    assert load_board(path).region("SRAM").size_bytes == 131_072


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        ('title = "Netduino Plus 2 (STM32F405, Cortex-M4F, 168 MHz)"', "titel = 1"),
        ("stack_bytes = 2048", 'stack_bytes = "2 pages"'),
        ('runner = "qemu"', 'runner = "renode"'),
        ("bits = 32", "bits = 1.5"),
        ("size_bytes = 131_072", "size_bytes = 0"),
        ('cpu = "cortex-m4"\n', ""),
    )
    lines = Path(path).read_text().splitlines()
    found = complaints(path)

    def line(start: str) -> int:
        return next(number for number, text in enumerate(lines, start=1) if text.startswith(start))

    assert found == {
        f"mine.toml:{line('titel')}: titel": "is no known key",
        "mine.toml: title": "is missing",
        f"mine.toml:{line('stack_bytes')}: stack_bytes": "must be a size: 4096, 0x1000 "
        "or \"4K\", got '2 pages'",
        f"mine.toml:{line('runner')}: runner": "must be one of 'qemu', 'host', 'none', got 'renode'",
        f"mine.toml:{line('bits')}: counter.bits": "must be an integer, got 1.5",
        f"mine.toml:{line('[[regions]]')}: regions[0]": "region SRAM does not fit a 32-bit address space",
        f"mine.toml:{line('[target]')}: target.cpu": "is missing",
    }


def test_contradictions_are_told_beside_fields_that_cannot_be_read(tmp_path: Path) -> None:
    """What only follows from the unreadable ones is not: nothing is said of where data lies."""
    path = edited(
        tmp_path,
        ('title = "Netduino Plus 2 (STM32F405, Cortex-M4F, 168 MHz)"', "titel = 1"),
        ("size_bytes = 131_072", "size_bytes = 0"),
        ('driver = "stm32"', "driver = 1"),
        ('mpu = "v7m"', 'mpu = "v9m"'),
        ("address = 0x2002_0000", "address = 0x2002_0020"),
        ("wait_states = 5", "wait_states = -1"),
        ("[counter]\n", "[counters]\n"),
    )
    assert without_lines(complaints(path)) == {
        "mine.toml: titel": "is no known key",
        "mine.toml: title": "is missing",
        "mine.toml: counters": "is no known key",
        "mine.toml: counter": "is missing: the test firmware needs it",
        "mine.toml: regions[0]": "region SRAM does not fit a 32-bit address space",
        "mine.toml: regions[2].wait_states": "must not be negative",
        "mine.toml: uart.driver": "must be a string, got 1",
        "mine.toml: mpu": "there is no driver 'v9m'",
        "mine.toml: holes[0]": "must have a power of two of bytes, at least 32, "
        "and lie at a multiple of them (MPU)",
    }


def test_mistakes_in_a_second_core(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        ('driver = "sse200"', 'driver = "sse300"'),
        ("stack_bytes = 4_096", "stack_bytes = 40"),
        ("reserved_bytes = 24_576", "reserved_bytes = 9_000"),
        base="mps2-an521",
    )
    assert without_lines(complaints(path)) == {
        "mine.toml: second_core.driver": "there is no driver 'sse300'",
        "mine.toml: second_core.stack_bytes": "must be a multiple of 32 and at least 256, got 40",
        "mine.toml: reserved_bytes": "must be at least 9192 (stacks and test link) and fit the data region, "
        "got 9000",
    }


@pytest.mark.parametrize("table", ["regions = 1", "regions = [1]", "target = 1", "regions = [{}]"])
def test_a_file_of_nothing_but_mistakes_has_an_answer(tmp_path: Path, table: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"{table}\n")
    assert "mine.toml: title" in complaints(str(path))


@pytest.mark.parametrize(
    ("old", "new", "where", "text"),
    [
        ('code_region = "FLASH"', 'code_region = "ROM"', "code_region", "there is no region ROM"),
        ('code_region = "FLASH"', 'code_region = "SRAM"', "code_region", "SRAM is writable"),
        ('data_region = "SRAM"', 'data_region = "FLASH"', "data_region", "FLASH is not writable"),
        ('name = "CCM"', 'name = "SRAM"', "regions[1].name", "two regions are called SRAM"),
        ('name = "CCM"', 'name = "C-C"', "regions[1].name", "A-Z, 0-9 and _ only"),
        ("address = 0x1000_0000", "address = 0x2001_0000", "regions", "SRAM and CCM overlap"),
        ("reserved_bytes = 4096", "reserved_bytes = 2100", "reserved_bytes", "must be at least 3008"),
        ("stack_bytes = 2048", "stack_bytes = 100", "stack_bytes", "multiple of 32 and at least 256"),
        ("address = 0x2002_0000", "address = 0x2002_0020", "holes[0]", "a power of two of bytes"),
        ("interrupt = 38", "interrupt = 480", "uart.interrupt", "must be 0 to 479"),
        ('driver = "stm32"', 'driver = "uart16550"', "uart.driver", "there is no driver 'uart16550'"),
        ('mpu = "v7m"', 'mpu = "v9m"', "mpu", "there is no driver 'v9m'"),
        ('startup = "stm32f4"', 'startup = "x"', "startup", "there is no driver 'x'"),
        (
            'qemu_machine = "netduinoplus2"\n',
            "",
            "qemu_machine",
            "is missing: a board that runs on QEMU needs it",
        ),
        ('features = ["dsp", "fpu", "div"]', 'features = ["dps"]', "target.features", "unknown dps"),
        ("clock_hz = 16_000_000\n", "", "clock_hz", "must be positive, got 0"),
        (
            "instructions_per_tick = 1.0",
            "instructions_per_tick = 0.0",
            "counter.instructions_per_tick",
            "be positive",
        ),
        (
            'mpu = "v7m"',
            'mpu = "v7m"\nbuffer_alignment_bytes = 3',
            "buffer_alignment_bytes",
            "3 is no power of two",
        ),
        (
            "[[holes]]\naddress = 0x2002_0000\nsize_bytes = 65_536",
            "[holes]\na = 1",
            "holes",
            "an array of tables",
        ),
        ("[target]", "target = 1\n[targets]", "target", "must be a table"),
        ("wait_states = 5", "wait_states = -1", "regions[2].wait_states", "must not be negative"),
        ("fetch_bytes = 16", "fetch_bytes = 12", "regions[2].fetch_bytes", "a power of two and at least 4"),
        ("access_cost = 2.25", "access_cost = 0.5", "regions[2].access_cost", "must be at least 1"),
        ('kind = "flash"', 'kind = "data"', "caches[0].kind", "a cortex-m4 has no data cache of its own"),
        ('kind = "flash"', 'kind = "l2"', "caches[0].kind", "must be one of 'instruction', 'data',"),
        (
            "[[caches]]",
            '[[setup]]\naddress = 0x4002_3801\nwhy = "odd"\n[[caches]]',
            "setup[0].address",
            "0x40023801 is no multiple of 4",
        ),
        (
            "[[caches]]",
            '[[setup]]\naddress = 0x4002_3800\nset = 0x1_0000_0000\nwhy = "wide"\n[[caches]]',
            "setup[0].set",
            "does not fit 32 bits",
        ),
        ("[[caches]]", "[[setup]]\naddress = 0\n[[caches]]", "setup[0].why", "is missing"),
        ('mpu = "v7m"', 'mpu = "v7m"\nboot_words = [-1]', "boot_words", "does not fit 32 bits"),
        ("[counter]\n", "[counters]\n", "counter", "is missing: the test firmware needs it"),
    ],
)
def test_every_mistake_has_its_field_and_reason(
    tmp_path: Path, old: str, new: str, where: str, text: str
) -> None:
    if old == "[target]":
        old, new = 'name = "netduinoplus2"', 'name = "netduinoplus2"\ntarget = 1'
        path = edited(tmp_path, (old, new), ("[target]", "[other]"))
    else:
        path = edited(tmp_path, (old, new))
    found = without_lines(complaints(path))
    assert text in found[f"mine.toml: {where}"]


@pytest.mark.parametrize(
    ("said", "api"),
    [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", 1),
        ("QEMU emulator version 8.2.2", 1),
        ("QEMU emulator version 9.0.4", 2),
        ("QEMU emulator version 9.1.0", 3),
        ("QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)", 3),
        ("something else", 1),
    ],
)
def test_each_qemu_gets_its_interface(said: str, api: int) -> None:
    assert api_of(said) == api


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("api", [1, 2, 3])
def test_the_plugin_compiles_for_each_interface(tmp_path: Path, api: int) -> None:
    plugin = toolchain.build_counts_plugin(tmp_path, api, FAMILY)
    names = subprocess.run(["nm", "-D", str(plugin)], capture_output=True, text=True, check=True).stdout
    wanted = "inline_per_vcpu" if api >= 2 else "exec_inline\n"
    assert wanted in names
