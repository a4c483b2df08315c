"""The official model tests of the installed `onnx` package: what the table says of them is so."""

import csv
from pathlib import Path

import numpy as np
import pytest

import codegen
from tests.checkout import ROOT
from tests.importers.onnx import official
from tests.importers.onnx.official_models import KINDS, models

with (ROOT / "benchmarks" / "results" / "onnx_models.csv").open() as _file:
    TABLE = {(row["operator"], row["test"]): row for row in csv.DictReader(_file)}
"""`python benchmarks/onnx_nodes.py --models` writes it anew."""

MOST_BYTES = 200_000
"""Of inputs and outputs of a test that runs on a board."""

LIGHT_ON_A_BOARD = {
    "light_shufflenet": (0, 0),
    "light_squeezenet": (0, 0),
    "light_inception_v1": (8 << 20, 0),
    "light_densenet121": (8 << 20, 0),
    "light_inception_v2": (12 << 20, 0),
    "light_resnet50": (6 << 20, 2 << 20),
}
"""Bytes of PSRAM, and of SRAM, for constants."""

OF_SIX = ("test_operator_params", "test_operator_addmm", "test_BatchNorm2d_eval", "test_PReLU_2d_multiparam")
"""Of opset 6: they were refused until what opset 7 changed was read."""


def test_every_test_of_pytorch_is_as_the_table_says() -> None:
    """All pass. Five of the operators are of float64, which was refused."""
    found = {
        (each.test.operator, each.test.name): each
        for each in map(official.outcome, models("pytorch-operator", "pytorch-converted"))
    }
    for key, each in found.items():
        row = TABLE[key]
        assert each.reason == row["reason"], key
        assert each.is_right == (row["result"] == "passes"), key
    assert sum(each.is_right for each in found.values()) == 35 + 82


def test_models_of_opset_6_pass_as_c(tmp_path: Path) -> None:
    """Sums whose second value is broadcast by an attribute, statistics and slopes a channel."""
    found = [each for each in models("pytorch-operator", "pytorch-converted") if each.name in OF_SIX]
    assert len(found) == len(OF_SIX)
    assert all(each.model.opset_import[0].version == 6 for each in found)
    outcomes = official.on_board([official.outcome(each) for each in found], tmp_path)
    assert [each.test.name for each in outcomes if not each.is_right] == []


def test_simple_models_pass_as_c(tmp_path: Path) -> None:
    """Those with sequences of tensors were refused until lists were resolved while the file is read."""
    found = [official.outcome(each) for each in models("simple")]
    wanted = {name for (kind, name), row in TABLE.items() if kind == "simple" and row["result"] == "passes"}
    outcomes = official.on_board([each for each in found if each.module is not None], tmp_path)
    assert {each.test.name for each in outcomes if each.is_right} == wanted
    assert len(wanted) == 15


@pytest.mark.long
@pytest.mark.qemu
def test_all_but_large_ones_pass_on_a_board(tmp_path: Path) -> None:
    """Light ones have megabytes of weights, and three others a megabyte or more of inputs and outputs, which
    takes minutes over the test link; their kinds of layers are in the rest."""
    first = [official.outcome(test) for test in models(*KINDS[:3])]
    imported = [each for each in first if each.module is not None and _array_bytes(each.test) <= MOST_BYTES]
    found = official.on_board(imported, tmp_path, "mps2-an386")
    assert [each.test.name for each in found if not each.is_right] == []
    assert len(imported) == 30 + 82 + 14 - 3


@pytest.mark.long
@pytest.mark.qemu
@pytest.mark.parametrize(("name", "rom_bytes"), LIGHT_ON_A_BOARD.items())
def test_light_ones_that_fit_the_machine_run_there(
    name: str, rom_bytes: tuple[int, int], tmp_path: Path
) -> None:
    """Constants lie where the machine has 4 MB, and from the start of its other memories on: a board file of
    a user's.

    QEMU's mps2-an386 maps 4 + 4 + 16 MiB, too little for the constants of alexnet, zfnet512 and vgg19.
    Constants of resnet50 have 39 MB: they fit stored compressed, those in which others lie too.
    """
    [test] = [each for each in models("light") if each.name == name]
    board, path = tmp_path / "board.toml", tmp_path / f"{name}.onnx"
    board.write_text(_with_rom(*rom_bytes))
    path.write_bytes(test.model.SerializeToString())
    options = codegen.Options(board=str(board), optimize="speed", model_limit=test.model_limit)
    case = codegen.Case(name="package's", inputs=tuple(test.given), expected=test.outputs)
    report = codegen.run(path, options, cases={name: [case]})
    assert report.run is not None
    assert report.plan is not None
    assert all(
        each.matches and (each.max_abs_difference or 0) <= 1e-5 * _largest(test)
        for each in report.run.outputs
    )
    planned = {pool.name: pool.peak_bytes for pool in report.plan.pools}
    assert planned == {pool.name: pool.peak_bytes for pool in report.run.pools}


def _largest(test: official.NodeTest) -> float:
    return max(float(np.abs(each).max()) for each in test.outputs)


def _with_rom(*rom_bytes: int) -> str:
    """The shipped board with the first bytes of PSRAM and SRAM for constants; values may have the rest."""
    text = (ROOT / "boards" / "mps2-an386.toml").read_text()
    for name, address, size, cost, rom in zip(
        ("ROM", "ROM2"), (0x2100_0000, 0x2000_0000), (1 << 24, 1 << 22), (4.0, 1.0), rom_bytes, strict=True
    ):
        if rom:
            shipped = f"address = 0x{address >> 16:04x}_0000\nsize_bytes = {size:_}\n"
            assert text.count(shipped) == 1
            text = text.replace(shipped, f"address = {address + rom:#x}\nsize_bytes = {size - rom}\n")
            text += f'\n[[regions]]\nname = "{name}"\naddress = {address:#x}\nsize_bytes = {rom}\n'
            text += f"writable = false\naccess_cost = {cost}\n"
    return text


def _array_bytes(test: official.NodeTest) -> int:
    return sum(each.nbytes for each in (*test.inputs.values(), *test.outputs))


@pytest.mark.long
def test_every_test_passes_as_c_or_is_refused(tmp_path: Path) -> None:
    """Simple and light ones too; of the latter some are larger than what is ever imported."""
    first = [official.outcome(each) for each in models()]
    assert {each.test.operator for each in first} == set(KINDS)
    imported = [each for each in first if each.module is not None]
    right = (each.test for each in official.on_board(imported, tmp_path) if each.is_right)
    found = {(each.operator, each.name) for each in right}
    assert found == {key for key, row in TABLE.items() if row["result"] == "passes"}
