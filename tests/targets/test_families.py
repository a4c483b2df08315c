from collections import Counter

import pytest

from codegen import resources
from codegen.board.catalog.boards import boards
from codegen.ir import Runner, Target
from codegen.targets.arm import DSP, FLOAT_MVE, FPU, MVE, V6M, V7M
from codegen.targets.core_family import KernelSet
from codegen.targets.families import FAMILIES, family_of, is_listed, runs

SETS = (V6M, V7M, DSP, MVE, FPU, FLOAT_MVE)


def test_a_core_is_in_one_family() -> None:
    counts = Counter(cpu for family in FAMILIES for cpu in family.cpus)
    assert set(counts.values()) == {1}


def test_every_board_that_ships_has_a_listed_core() -> None:
    listed = {cpu for family in FAMILIES for cpu in family.cpus}
    assert {board.target.cpu for board in boards()} <= listed


def test_what_a_family_says_of_single_cores_is_of_its_own() -> None:
    for family in FAMILIES:
        assert family.cached_cpus <= family.cpus
        assert {*family.emulated_as, *family.emulated_as.values()} <= family.cpus


def test_the_core_that_stands_in_has_a_board_on_qemu() -> None:
    emulated = {board.target.cpu for board in boards() if board.runner is Runner.QEMU}
    for family in FAMILIES:
        assert set(family.emulated_as.values()) <= emulated


def test_kernel_sets_are_folders_of_the_runtime() -> None:
    kernels = resources.folder("runtime_c") / "kernels"
    assert all((kernels / each.folder).is_dir() for family in FAMILIES for each in family.kernel_sets)


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
    assert not is_listed("rv32imac")
    with pytest.raises(ValueError, match="no core family lists 'rv32imac'"):
        family_of("rv32imac")


def test_long_products_and_system_control() -> None:
    without = [
        cpu for cpu in ("cortex-m0", "cortex-m23", "cortex-m3") if not family_of(cpu).has_long_multiply
    ]
    assert without == ["cortex-m0", "cortex-m23"]
    bare = [cpu for cpu in ("cortex-m1", "cortex-m23", "cortex-m4") if not family_of(cpu).has_system_control]
    assert bare == ["cortex-m1"]
