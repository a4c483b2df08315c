"""A core whose products take five cycles chooses other kernels; features that save instructions count."""

from dataclasses import replace

from codegen.board import load_board
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.kernels.dsp.conv_layers import module_of, shaped_layer

SMALL = shaped_layer(image=(8, 8, 32), kernel=(3, 3), outputs=32, pad=1)
WINOGRAD = "winograd_s8_rv32"


def _chosen(board: str, cpu: str | None = None) -> PrimFunc:
    """The kernel of a layer whose transformed weights take 23,520 bytes of flash more, by `balanced`."""
    module, target = module_of(SMALL), load_board(board).target
    data = {id_: constant.data for id_, constant in module.constants.items()}
    target = target if cpu is None else replace(target, cpu=cpu)
    (prim,) = select(module.main, Binder(data, target), "balanced")
    return prim


def test_a_slow_multiplier_pays_flash_for_fewer_products() -> None:
    """By instructions Winograd's saving is not worth its flash; by cycles it is. Features are the same."""
    by_instructions, by_cycles = _chosen("qemu-virt-rv32"), _chosen("qemu-virt-rv32", "e31")
    assert by_instructions.kernel != WINOGRAD and by_instructions.cycles is None
    assert by_cycles.kernel == WINOGRAD and by_cycles.cycles is not None
    assert by_cycles.cycles > 2 * (by_cycles.instructions or 0)
    assert _chosen("hifive1").kernel == WINOGRAD


def test_features_that_save_instructions_are_predicted() -> None:
    plain, short = _chosen("qemu-virt-rv32"), _chosen("qemu-virt-rv32b")
    assert plain.kernel == short.kernel
    assert plain.instructions is not None and short.instructions is not None
    assert 0.95 < short.instructions / plain.instructions < 1
