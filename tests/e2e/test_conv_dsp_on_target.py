"""DSP convolutions in models on QEMU: chosen, rows in blocks, predicted instructions.

Results are compared with the NumPy reference; in the same run measured peaks equal plans, guards hold, and
two paints agree. Words off alignment trap. Hundreds of random layers on every core: tests/fuzz.
"""

from pathlib import Path

import pytest

from codegen.driver.build import Planned
from codegen.errors import CodegenError
from tests.e2e.layer_runs import check_predictions, only_kernels, planned_alone, planned_chains, run_layers
from tests.kernels.dsp.conv_layers import conv_layer, module_of

LAYERS = 10
CHAINS = 16

pytestmark = pytest.mark.qemu


@pytest.mark.parametrize(("most", "board_name"), [(4, "mps2-an386"), (2, "mps2-an505")])
def test_layers(most: int, board_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_kernels(monkeypatch, *(("_dsp",) if most == 4 else ("_dsp_2", "_narrow_s8_dsp", "_s8_portable")))
    offset = 1000 * (most + len(board_name))
    made: list[Planned] = []
    for seed in range(offset, offset + LAYERS):
        try:
            made.append(planned_alone(module_of(conv_layer(seed)), board_name, f"layer{seed}"))
        except CodegenError as error:  # groups, which only the portable kernel has
            assert "is for one group" in str(error)
    assert len(made) > LAYERS // 2
    run_layers(board_name, made, tmp_path)


def test_rows_in_blocks(tmp_path: Path) -> None:
    made = planned_chains("mps2-an386", CHAINS)
    blocks = [prim for each in made for prim in each.program.prim_funcs if prim.block]
    assert len(blocks) > CHAINS // 2
    assert sum("cg_conv2d_s8_dsp" in str(prim.block) for prim in blocks) > CHAINS // 4
    run_layers("mps2-an386", made, tmp_path)


def test_predictions_hold(tmp_path: Path) -> None:
    check_predictions("mps2-an386", tmp_path)
