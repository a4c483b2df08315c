"""Made-up networks and allocation problems of any size: what planning costs must grow with them, not faster.

`benchmarks/planning.py` prints what they cost.
"""

import random
import sys
from collections.abc import Callable

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.problem.problem import Buffer, Pool, Problem, interval_conflicts

POOL = Pool(name="ram", region="RAM", limit_bytes=1 << 40, alignment=1)


def chain(kind: str, length: int, shape: tuple[int, int, int] = (16, 16, 8)) -> bytes:
    """A `.tflite` file: one layer after the other, all of one shape (rows, columns, channels).

    `kind`: `twice` adds a value to itself, `skip` to the one before it, `conv` convolves 3x3.
    """
    generator = np.random.default_rng(1)
    model = ModelBuilder()
    before = value = model.tensor("x", (1, *shape), "int8", scale=0.5, zero_point=-3)
    model.inputs(value)
    channels = shape[2]
    for layer in range(length):
        result = model.tensor(f"y{layer}", (1, *shape), "int8", scale=0.5, zero_point=-3)
        if kind == "conv":
            weights = generator.integers(-100, 100, (channels, 3, 3, channels)).astype(np.int8)
            filters = model.tensor(f"f{layer}", weights.shape, "int8", scale=0.01, zero_point=0, data=weights)
            added = generator.integers(-100, 100, channels).astype(np.int32)
            bias = model.tensor(f"b{layer}", added.shape, "int32", scale=0.005, zero_point=0, data=added)
            model.op("CONV_2D", [value, filters, bias], [result], padding="SAME", stride_h=1, stride_w=1)
        else:
            model.op("ADD", [value, before if kind == "skip" else value], [result])
        before, value = value, result
    model.outputs(value)
    return model.build()


def one_lifetime(count: int) -> Problem:
    """`count` buffers that are all alive together."""
    return _problem([(0, 1, 16 + index % 97 * 16) for index in range(count)])


def staircase(count: int) -> Problem:
    """`count` buffers, each alive together with the eight before it and the eight behind it."""
    return _problem([(index, index + 9, 16 + index * 37 % 101 * 16) for index in range(count)])


def _problem(lives: list[tuple[int, int, int]]) -> Problem:
    buffers = tuple(
        Buffer(id=f"b{index}", size_bytes=size, start=start, stop=stop, pool_candidates=("ram",))
        for index, (start, stop, size) in enumerate(lives)
    )
    return Problem(buffers=buffers, conflicts=interval_conflicts(buffers), pools=(POOL,))


def calls(work: Callable[[], object]) -> int:
    """How many functions `work` calls, Python's and C's: a measure of work that repeats."""
    count = 0

    def see(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def wired(length: int, seed: int = 1) -> bytes:
    """A `.tflite` file: `length` ADDs, each of any two of the forty values before it, or of the last one."""
    generator = random.Random(seed)
    model = ModelBuilder()
    values = [model.tensor("x", (1, 8, 8, 4), "int8", scale=0.5, zero_point=-3)]
    model.inputs(values[0])
    unread: dict[int, None] = {}
    for layer in range(length):
        near = values[-40:]
        first = values[-1] if generator.random() < 0.6 else generator.choice(near)
        arguments = [first, generator.choice(near)]
        if layer > length - 60 and len(unread) > 1:
            arguments = list(unread)[:2]  # in the end everything leads to one result
        result = model.tensor(f"y{layer}", (1, 8, 8, 4), "int8", scale=0.5, zero_point=-3)
        model.op("ADD", arguments, [result])
        unread = {value: None for value in (*unread, result) if value not in arguments}
        values.append(result)
    model.outputs(*unread)
    return model.build()
