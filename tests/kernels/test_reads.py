"""How often kernels say they load each byte of an argument, against the access model of their C code."""

import numpy as np
import pytest

from codegen import board as boards
from codegen.ir import DType, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.search.blocks.row_blocks import Segment, apply, row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.kernels.access import events
from tests.kernels.builders import CASES, depthwise_same_size, random_layer
from tests.kernels.calling import bind
from tests.kernels.test_in_place import bound
from tests.search.chains import random_chain, segments

LAYERS = 40
COUNTED = {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "AVERAGE_POOL_2D", "MAX_POOL_2D"}
HOST = boards.load_board("host")


@pytest.mark.parametrize(("op", "dtype"), [case for case in CASES if case[0] in COUNTED])
def test_loads_are_those_of_the_loops(op: str, dtype: DType) -> None:
    seen = 0
    for seed in range(LAYERS):
        layer = random_layer(op, dtype, seed)
        image = layer.let.call.args[0]
        if isinstance(image, Var):
            seen += 1
            loads = sum(len(event.reads) for event in events(layer, 0, reverse=False))
            assert bind(layer).reads[0] * image.type.elements == pytest.approx(loads, rel=1e-12)
    assert seen > LAYERS // 2


def test_in_place_reads_its_image_once_and_the_windows_from_the_ring() -> None:
    for seed in range(30):
        layer = depthwise_same_size(np.random.default_rng(seed))
        image, weights = (arg.type.shape for arg in layer.let.call.args[:2] if arg is not None)
        function = bound(layer)
        [ring] = function.workspaces
        assert function.reads[0] == 1
        # Every result reads its whole window, padding too: the ring has it.
        loads = np.prod(image) * weights[1] * weights[2]
        assert ring.reads * ring.size_bytes == pytest.approx(loads)
        assert ring.writes * ring.size_bytes >= np.prod(image)


def loaded(prims: list[PrimFunc]) -> dict[str, float]:
    """Bytes of each value that these steps load."""
    found: dict[str, float] = {}
    for prim in prims:
        for arg, reads in zip(prim.let.call.args, prim.reads, strict=True):
            if isinstance(arg, Var):
                found[arg.name] = found.get(arg.name, 0.0) + reads * arg.type.size_bytes
    return found


def test_a_block_loads_what_its_layers_load() -> None:
    """Where no pixel is computed twice: no more than that, as pixels that nobody reads are left out."""
    compared = exact = 0
    for seed in range(40):
        module = random_chain(seed, 4)
        data = {id_: constant.data for id_, constant in module.constants.items()}
        binder = Binder(data, HOST.target)
        prims = select(module.main, binder)
        steps = row_steps(prims, binder)
        for start, stop in segments(module.main, steps):
            inner = list(prims[start:stop])
            _, plain = apply(module.main, prims, steps, [Segment(start=start, stop=stop)])
            block = plain[start]
            if block.macs != sum(prim.macs for prim in inner):
                continue
            compared += 1
            by_layer = loaded(inner)
            for name, count in loaded([block]).items():
                assert 0 < count <= by_layer[name] * (1 + 1e-9)
            exact += loaded([block]) == pytest.approx({name: by_layer[name] for name in loaded([block])})
            values = {prim.let.var.name: prim.let.var for prim in inner}
            for line in block.workspaces:
                assert line.reads * line.size_bytes <= by_layer[line.name] * (1 + 1e-9)
                assert line.writes * line.size_bytes <= values[line.name].type.size_bytes * (1 + 1e-9)
    assert compared > 40
    assert exact > compared // 2
