import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import resources
from codegen.board.catalog.boards import boards, load_board
from codegen.board.link.faults import describe
from codegen.ir import Runner, Target
from codegen.targets import families
from codegen.targets.arm import DSP, FAMILY, FLOAT_MVE, FPU, MVE, V6M, V7M
from codegen.targets.core_family import KernelSet
from codegen.targets.families import (
    architecture_of,
    architectures,
    core_families,
    family_of,
    install_command,
    is_listed,
    isolates_buffers,
    protection_of,
    runs,
)
from tests.checkout import ROOT

SETS = (V6M, V7M, DSP, MVE, FPU, FLOAT_MVE)


def test_a_core_is_in_one_family() -> None:
    counts = Counter(cpu for each in architectures() for cpu in each.cpus)
    assert set(counts.values()) == {1}


def test_a_family_is_called_after_its_folder() -> None:
    folders = {path.parent.name for path in Path(families.__file__).parent.glob("*/__init__.py")}
    assert {family.name for family in core_families()} == folders == {"arm", "host", "riscv"}


def test_every_board_that_ships_has_a_listed_core() -> None:
    listed = {cpu for family in core_families() for cpu in family.cpus}
    assert {board.target.cpu for board in boards()} <= listed


def test_what_a_family_says_of_single_cores_is_of_its_own() -> None:
    for each in architectures():
        assert each.cached_cpus <= each.cpus
        assert {*each.emulated_as, *each.emulated_as.values()} <= each.cpus


def test_the_core_that_stands_in_has_a_board_on_qemu() -> None:
    emulated = {board.target.cpu for board in boards() if board.runner is Runner.QEMU}
    for each in architectures():
        assert set(each.emulated_as.values()) <= emulated


def test_kernel_sets_are_folders_of_the_runtime() -> None:
    kernels = resources.folder("runtime_c") / "kernels"
    assert all(
        (kernels / kernel_set.folder).is_dir() for each in architectures() for kernel_set in each.kernel_sets
    )


@pytest.mark.parametrize(
    ("cpu", "features", "expected"),
    [
        ("cortex-m0", "", (V6M,)),
        ("cortex-m23", "", (V6M,)),
        ("cortex-m3", "div", (V7M,)),
        ("cortex-m33", "div", (V7M,)),
        ("cortex-m33", "dsp fpu div", (DSP, FPU)),
        ("cortex-m4", "dsp", (DSP,)),
        ("cortex-m55", "dsp mve fpu mvef", (DSP, MVE, FLOAT_MVE)),
        ("cortex-m35p", "dsp fpu", (DSP, FPU)),
        ("host", "", ()),
    ],
)
def test_the_kernel_sets_of_a_core(cpu: str, features: str, expected: tuple[KernelSet, ...]) -> None:
    target = Target(cpu=cpu, features=frozenset(features.split()))
    assert tuple(each for each in SETS if runs(target, each)) == expected


def test_a_core_that_no_family_lists_has_none() -> None:
    """It was taken for an Arm core, and its image went to the Arm compiler."""
    assert not is_listed("xtensa-lx6")
    with pytest.raises(ValueError, match="no core family lists 'xtensa-lx6'"):
        family_of("xtensa-lx6")


def test_long_products_and_system_control() -> None:
    """Cores without products of 64 bits decode slower; those of Armv6-M have no fault status registers."""
    slow = [cpu for cpu in ("cortex-m0", "cortex-m23", "cortex-m3") if _decode_bytes(cpu) > 16]
    assert slow == ["cortex-m0", "cortex-m23"]
    values = FAMILY.firmware.template_values if FAMILY.firmware else None
    assert values is not None
    with_control = {
        name: values(load_board(name))["has_system_control"] for name in ("microbit", "mps2-an386")
    }
    assert with_control == {"microbit": False, "mps2-an386": True}


def _decode_bytes(cpu: str) -> int:
    return architecture_of(cpu).decode_costs["speed"].byte


def test_a_program_names_the_command_that_installs_it() -> None:
    assert "gcc-arm-none-eabi" in install_command("arm-none-eabi-objcopy")
    assert install_command("gcc") == "sudo apt-get install gcc libc6-dev"


def test_kinds_of_protection_units() -> None:
    """The kind v8m opens any range of 32 bytes; v7m cannot, and a core without one opens all."""
    assert not isolates_buffers(load_board("mps2-an386"))
    board = load_board("mps2-an505")
    assert not isolates_buffers(board)
    assert isolates_buffers(replace(board, buffer_alignment_bytes=32))
    assert protection_of(load_board("microbit")) is None


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            (4, 0x0800_0100, 0x0800_0200, 0, 0, 0x82, 0, 0x2000_0004, 0),
            "MemManage fault: access to memory that is closed (outside the model's pools and stack, or the "
            "step's buffers), at address 0x20000004 (pool + 4), pc 0x08000100 (step), lr 0x08000200, "
            "cfsr 0x00000082",
        ),
        ((3, 0, 0, 0, 0, 0, 0, 0, 0), "HardFault"),
        ((42, 0, 0, 0, 0, 0, 0, 0, 0), "exception 42"),
    ],
)
def test_the_family_decodes_what_the_link_only_carries(record: tuple[int, ...], said: str) -> None:
    symbols = {"pool": (0x2000_0000, 16), "step": (0x0800_0100, 8)}
    assert describe(record, FAMILY, symbols) == said


def test_a_family_that_decodes_nothing_tells_the_cause() -> None:
    assert describe((7, *range(8)), family_of("host"), {}) == "fault 7"


_WORDS = {
    "arm": re.compile(r"cortex|arm-none|thumb|nvic|cfsr|mpu_v|\bsvc\b", re.IGNORECASE),
    "riscv": re.compile(r"riscv|\bpmp|mcause|\bharts?\b", re.IGNORECASE),
}
"""Words of a family's cores and tools."""


@pytest.mark.parametrize("family", sorted(_WORDS))
@pytest.mark.parametrize("folder", ["codegen", "runtime_c", "templates"])
def test_only_its_folders_speak_of_a_core_family(folder: str, family: str) -> None:
    """A RISC-V board went to Arm's compiler: its name, and Arm's registers, stood in every room."""
    said = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and path.suffix != ".png"
        and "__pycache__" not in path.parts
        and f"targets/{family}/" not in path.as_posix()
        and (match := _WORDS[family].search(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert said == set()
