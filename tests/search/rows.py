"""Networks of rows of values, and a machine that runs programs over bytes by NumPy's evaluation."""

import numpy as np

from codegen.ir import Arg, ConstRef, DType, Module, TensorType, Var
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate, evaluate_let
from codegen.ir.ops import OPS, Attrs, BinaryAttrs, ConcatAttrs, ReshapeAttrs, StridedSliceAttrs
from codegen.lifetimes.ties import ties
from codegen.program.program import Program
from tests.tensor_types import per_tensor, tensor_type

METADATA = {"sha256": "0" * 64, "format": "made up", "file": "views"}
QUANTIZATION = per_tensor(0.5, 3)


class Net:
    """Rows of int8 or float32 values, elementwise layers, slices and concatenations of them."""

    def __init__(self, dtype: DType = DType.INT8) -> None:
        self.builder = Builder()
        self.dtype = dtype

    def type(self, *shape: int) -> TensorType:
        quantization = QUANTIZATION if self.dtype is DType.INT8 else None
        return tensor_type(shape, self.dtype, quantization=quantization)

    def param(self, name: str, width: int) -> Var:
        return self.builder.param(name, self.type(1, width))

    def relu(self, value: Var) -> Var:
        return self.builder.call(OPS["RELU"], [value], Attrs(), value.type)

    def add(self, one: Var, other: Var) -> Var:
        return self.builder.call(OPS["ADD"], [one, other], BinaryAttrs(), one.type)

    def concat(self, *values: Var) -> Var:
        width = sum(value.type.shape[1] for value in values)
        return self.builder.call(OPS["CONCATENATION"], values, ConcatAttrs(axis=1), self.type(1, width))

    def slice(self, value: Var, begin: int, count: int, step: int = 1) -> Var:
        attrs = StridedSliceAttrs(begins=(0, begin), strides=(1, step), counts=(1, count), shape=(1, count))
        return self.builder.call(OPS["STRIDED_SLICE"], [value], attrs, self.type(1, count))

    def reshape(self, value: Var, *shape: int) -> Var:
        return self.builder.call(OPS["RESHAPE"], [value], ReshapeAttrs(shape=shape), self.type(*shape))

    def module(self, *results: Var) -> Module:
        return self.builder.build(results, METADATA)


class Machine:
    """Runs a program over bytes: every step reads and writes where the plan says, by NumPy's evaluation."""

    def __init__(self, program: Program, module: Module, seed: int) -> None:
        self.program, self.module = program, module
        dice = np.random.default_rng(seed)
        self.pools = {
            pool.name: dice.integers(0, 256, program.memory.peak_bytes(pool.name), np.uint8)
            for pool in program.memory.problem.pools
        }
        found = ties(program.steps.function, program.steps.prim_funcs)
        self.anchors = found.anchors
        self.callers = {
            root: np.zeros(found.variables[root].type.size_bytes, np.uint8)
            for root in {
                root for name, (root, _) in found.anchors.items() if name not in program.memory.slices
            }
        }

    def place(self, var: Var) -> np.ndarray:
        part = self.program.memory.slices.get(var.name)
        size = var.type.size_bytes
        if part is None:
            root, offset = self.anchors[var.name]
            return self.callers[root][offset : offset + size]
        home = self.program.memory.plan.placements[part.buffer]
        start = home.offset + part.offset_bytes
        return self.pools[home.pool][start : start + size]

    def value(self, arg: Arg | None) -> np.ndarray | None:
        if isinstance(arg, ConstRef):
            return self.module.constants[arg.id].data
        return None if arg is None else self.read(arg)

    def read(self, var: Var) -> np.ndarray:
        return self.place(var).copy().view(var.type.dtype.numpy).reshape(var.type.shape)

    def run(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        for param, data in zip(self.program.steps.function.params, inputs, strict=True):
            self.place(param)[:] = np.frombuffer(data.tobytes(), np.uint8)
        for prim in self.program.steps.prim_funcs:
            if prim.is_call:
                result = evaluate_let(prim.let, [self.value(arg) for arg in prim.let.call.args])
                free = np.ones(prim.let.var.type.size_bytes, np.bool_)
                for arg, start in prim.joins:
                    free[start : start + arg.type.size_bytes] = False
                place = self.place(prim.let.var)
                place[free] = np.frombuffer(result.tobytes(), np.uint8)[free]
        return [
            self.read(result) for result in self.program.steps.function.results if isinstance(result, Var)
        ]


def check(program: Program, module: Module, seed: int = 1) -> None:
    dice = np.random.default_rng(seed)
    inputs = [
        dice.integers(-128, 128, param.type.shape).astype(param.type.dtype.numpy)
        for param in program.steps.function.params
    ]
    got = Machine(program, module, seed).run(inputs)
    for mine, wanted in zip(got, evaluate(module, module.main, inputs), strict=True):
        np.testing.assert_array_equal(mine, wanted)
