"""Every pass leaves the device of every value that survives it as it was, on layered networks too."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from codegen import passes
from codegen.ir import ANYWHERE, Arg, Call, DType, Function, Let, Module, TensorType, Var, VirtualDevice
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import OPS, Attrs, ConcatAttrs, ReshapeAttrs, RoundedAttrs, TransposeAttrs
from tests.search.chains import random_chain
from tests.tensor_types import tensor_type

ALL: tuple[passes.Pass, ...] = (
    passes.FoldConstants(),
    passes.IoTypes(),
    passes.FoldPad(),
    passes.FuseActivations(),
    passes.RemoveDead(),
    passes.Legalise(),
    passes.Reduce(),
)
SCOPES = ("dtcm", "sram")
Add = Callable[[str, str, tuple[Arg | None, ...], Attrs, TensorType], Var]


def _network(seed: int) -> Module:
    """A random chain between float edges, some of its weights all zero, a layer of moves and activations
    behind each of its values, devices on half of all values."""
    rng = np.random.default_rng(seed)
    chain = random_chain(seed, int(rng.integers(2, 6)), joins=bool(seed % 2))
    function = chain.main
    constants = {
        id_: replace(c, data=_thinned(c.data, rng)) if c.data.ndim == 4 else c
        for id_, c in chain.constants.items()
    }
    [param], body = function.params, list[Let]()
    floats = replace(param, name="floats", type=tensor_type(param.type.shape, DType.FLOAT32))
    values: dict[str, Var] = {}

    def add(name: str, op: str, args: tuple[Arg | None, ...], attrs: Attrs, type_: TensorType) -> Var:
        var = Var(name=name, type=type_, device=_device(rng))
        body.append(Let(var=var, call=Call(op=OPS[op], args=args, attrs=attrs)))
        return var

    floats = replace(floats, device=_device(rng))
    values[param.name] = add(param.name, "QUANTIZE", (floats,), RoundedAttrs(), param.type)
    for let in function.body:
        args = tuple(values[arg.name] if isinstance(arg, Var) else arg for arg in let.call.args)
        var = add(let.var.name, let.call.op.name, args, let.call.attrs, let.var.type)
        values[let.var.name] = _moved(var, rng, add)
    last = list(values.values())[-1]
    result = add("result", "DEQUANTIZE", (last,), Attrs(), tensor_type(last.type.shape, DType.FLOAT32))
    made = Function(name="main", params=(floats,), body=tuple(body), results=(result,))
    return Module(functions={"main": made}, constants=constants)


def _device(rng: np.random.Generator) -> VirtualDevice:
    scope = [None, *SCOPES][int(rng.integers(3))]
    return ANYWHERE if scope is None else VirtualDevice(memory_scope=scope)


def _thinned(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Some output channels without weights: they are constant."""
    made = weights.copy()
    made[rng.random(len(made)) < 0.4] = 0
    return made


def _moved(var: Var, rng: np.random.Generator, add: Add) -> Var:
    """The value behind an activation, a transposition of nothing, a reshape there and back, or as it is."""
    kind, name = int(rng.integers(5)), f"{var.name}_more"
    if kind == 0:
        return add(name, "RELU", (var,), Attrs(), var.type)
    if kind == 1:
        return add(name, "TRANSPOSE", (var,), TransposeAttrs(permutation=(0, 1, 2, 3)), var.type)
    if kind == 2:
        return add(name, "RESHAPE", (var,), ReshapeAttrs(shape=var.type.shape), var.type)
    if kind == 3:
        return add(name, "CONCATENATION", (var,), ConcatAttrs(axis=3), var.type)
    return var


@pytest.mark.parametrize("seed", range(60))
def test_devices_and_results_stay(seed: int) -> None:
    module = _network(seed)
    devices = {var.name: var.device for var in module.main.variables()}
    inputs = [np.random.default_rng(seed).normal(0, 3, module.main.params[0].type.shape).astype(np.float32)]
    for each in ALL:
        before = module
        module = passes.run_passes(module, (each,))
        for var in module.main.variables():
            assert var.device == devices[var.name], (each.name, var.name)
        for one, two in zip(before.main.results, module.main.results, strict=True):
            assert isinstance(one, Var) and isinstance(two, Var)
            assert one.device.is_free or two.device == one.device, each.name
        if before.main.params[0].type == module.main.params[0].type and not isinstance(each, passes.IoTypes):
            for one, two in zip(_run(before, inputs), _run(module, inputs), strict=True):
                assert np.array_equal(one, two), each.name


def _run(module: Module, inputs: list[np.ndarray]) -> list[np.ndarray]:
    [param] = module.main.params
    values = [data.astype(param.type.dtype.numpy) for data in inputs]
    return evaluate(module, module.main, values)


@pytest.mark.parametrize("seed", range(60))
def test_no_pass_ties_two_memories_together(seed: int) -> None:
    """Behind the passes, values that one view leads to have one memory wherever they had before."""
    module = passes.run_passes(_network(seed), ALL[:-1])
    tied_before = _clashes(_network(seed).main)
    assert _clashes(module.main) <= tied_before


def _clashes(function: Function) -> set[str]:
    """Values that a RESHAPE puts into the bytes of one in another memory."""
    scope = {var.name: var.device.memory_scope for var in function.variables()}
    found: set[str] = set()
    for let in function.body:
        source = let.call.args[0]
        if let.call.op.name == "RESHAPE" and isinstance(source, Var):
            name, scopes = let.var.name, {scope[source.name], scope[let.var.name]} - {None}
            scope[name] = scope[name] or scope[source.name]
            if len(scopes) > 1:
                found.add(name)
    return found
