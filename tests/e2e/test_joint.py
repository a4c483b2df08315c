"""Four networks in one firmware: shared pools, merged constants, any sequence of models bit-exact."""

import ctypes
import json
import random
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen.driver.build import Built, build, document
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import all_complaints, execute_all, measure, request
from codegen.joint import faults, together
from codegen.program.interface import EntryMode, Interface
from codegen.program.program import Program, own_pools
from tests import sampling
from tests.e2e.models import golden_cases
from tests.networks import model_path

KEYS = (
    "ds_cnn",
    "mobilenet_v1",
    "speech",
    "autoencoder",
)
KWS, VWW, SPEECH, AD = KEYS
SEQUENCES = 1_000
CONCURRENT = ((KWS, VWW), (VWW, AD))
"""kws and ad never run at once, nor does micro_speech with any other."""


def _build(board: str, folder: Path, concurrent: tuple[tuple[str, ...], ...] = ()) -> Built:
    options = Options(board=board, optimize="speed" if board == "host" else "balanced", concurrent=concurrent)
    return build([model_path(key) for key in KEYS], options, folder, emulated=True)


def _cases() -> list[tuple[Case, ...]]:
    return [golden_cases(key)[:4] for key in KEYS]


class Product:
    """The product's sources alone, as an application links them: no hooks, no painting, no test link."""

    def __init__(self, built: Built, folder: Path) -> None:
        library = folder / "product.so"
        kernels = sorted((built.folder / "runtime").rglob("*.c"))
        sources = [str(path) for path in (*sorted(built.folder.glob("*.c")), *kernels)]
        includes = [f"-I{built.folder}"]
        flags = ["-std=c11", "-O2", "-fno-strict-aliasing", "-fPIC", "-shared", "-Wl,-Bsymbolic"]
        subprocess.run(["gcc", *flags, *includes, *sources, "-o", str(library)], check=True)
        self.library = ctypes.CDLL(str(library))
        self.built = built

    def infer(self, index: int, case: Case) -> list[np.ndarray]:
        """One inference of a model, as an application calls it."""
        program = self.built.models[index].program
        inputs = [np.ascontiguousarray(data) for data in case.inputs]
        outputs = [
            np.zeros(tensor.type.shape, tensor.type.dtype.numpy) for tensor in program.signature.outputs
        ]
        run = getattr(self.library, f"{program.name}_run")
        status = run(_pointers(inputs), _pointers(outputs))
        assert status == 0
        return outputs

    def write(self, model: str, case: Case) -> None:
        """Write the inputs of a model to their places."""
        for tensor, data in zip(self._program(model).signature.inputs, case.inputs, strict=True):
            ctypes.memmove(self._place(model, "input", tensor.field), data.tobytes(), data.nbytes)

    def read(self, model: str) -> list[bytes]:
        """The outputs of a model, from their places."""
        return [
            ctypes.string_at(self._place(model, "output", tensor.field), tensor.type.size_bytes)
            for tensor in self._program(model).signature.outputs
        ]

    def _place(self, model: str, kind: str, field: str) -> int:
        names = (f"{model}_{kind}_{field}", f"{model}_{field}")  # a field called after its kind says it once
        function = getattr(self.library, next(name for name in names if hasattr(self.library, name)))
        function.restype = ctypes.c_void_p
        return function()

    def _program(self, model: str) -> Program:
        return next(one.program for one in self.built.models if one.program.name == model)

    def pool(self, name: str) -> np.ndarray:
        """The bytes of a shared pool; a view, not a copy."""
        size = next(pool.size_bytes for pool in self.built.bundle.pools if pool.name == name)
        array = (ctypes.c_uint8 * size).in_dll(self.library, f"{self.built.bundle.prefix}_{name}_pool")
        return np.ctypeslib.as_array(array)

    def bytes_of(self, model: str, pool: str) -> np.ndarray:
        """The bytes of a model in a shared pool."""
        program = self._program(model)
        base = self.built.bundle.base(model, pool)
        return self.pool(pool)[base : base + program.memory.peak_bytes(pool)]


def _pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array[ctypes.c_void_p]:
    """What a struct of pointers looks like."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Product:
    folder = tmp_path_factory.mktemp("shared")
    return Product(_build("host", folder / "build"), folder)


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Product:
    folder = tmp_path_factory.mktemp("apart")
    return Product(_build("host", folder / "build", CONCURRENT), folder)


def test_the_pool_is_the_largest_plan_and_constants_are_merged(shared: Product) -> None:
    built = shared.built
    own = {one.program.name: own_pools(one.program) for one in built.models}
    [pool] = built.bundle.pools
    assert pool.size_bytes == max(size.size_bytes for [size] in own.values())
    assert pool.size_bytes < sum(size.size_bytes for [size] in own.values())
    alone = sum(pool.size_bytes for one in built.models for pool in one.program.constants.pools)
    [constants] = built.bundle.constants
    own_merged = sum(pool.merged_bytes for one in built.models for pool in one.program.constants.pools)
    assert constants.merged_bytes >= own_merged > 0 and constants.size_bytes <= alone
    contents = [member.data.tobytes() for member in constants.members]
    assert len(set(contents)) == len(contents)
    report = json.loads((built.folder / "report.json").read_text())
    assert set(report) == {
        "schema",
        "board",
        "plan",
        "constants",
        "elf",
        "models",
        "build",
        "product",
        "warnings",
        "options",
        "totals",
        "summary",
    }
    assert report["plan"]["pools"][0]["size_bytes"] == pool.size_bytes
    assert report["constants"]["total_bytes"] == constants.size_bytes
    assert report["constants"]["merged_bytes"] == constants.merged_bytes
    assert [one["model"]["name"] for one in report["models"]] == [KWS, VWW, SPEECH, AD]
    assert not any({"board", "elf", "schema", "constants"} & set(one) for one in report["models"])
    for one in (KWS, VWW, SPEECH, AD):
        assert hasattr(shared.library, f"{one}_run")
    assert not (built.folder / f"{KWS}_data.c").exists()


def test_constants_of_a_twin_are_merged_away(shared: Product) -> None:
    kws = shared.built.models[0].program
    [alone] = kws.constants.pools
    [both] = together((kws, replace(kws, name="twin"))).constants
    assert both.size_bytes == alone.size_bytes
    assert both.merged_bytes == 2 * alone.merged_bytes + sum(m.data.nbytes for m in alone.members)


@pytest.mark.thorough
def test_any_sequence_of_models_is_exact(shared: Product) -> None:
    """1,000 sequences of two to five inferences, in `make test` a third: each finds what the models before it
    left in the pool."""
    rng, cases, followed = random.Random(5), _cases(), set[tuple[int, int]]()
    for _ in range(sampling.examples(SEQUENCES)):
        sequence = [rng.randrange(len(KEYS)) for _ in range(rng.randint(2, 5))]
        followed |= set(pairwise(sequence))
        for index in sequence:
            case = rng.choice(cases[index])
            assert case.known_outputs is not None
            for got, wanted in zip(shared.infer(index, case), case.known_outputs, strict=True):
                np.testing.assert_array_equal(
                    got, wanted.reshape(got.shape), err_msg=f"{sequence} {case.name}"
                )
    assert len(followed) == len(KEYS) ** 2  # every model came behind every model


def test_concurrent_models_have_bytes_of_their_own(apart: Product) -> None:
    """What one leaves, a concurrent one does not touch; one that shares its bytes does."""
    cases = {name: own[0] for name, own in zip((KWS, VWW, SPEECH, AD), _cases(), strict=True)}
    names = list(cases)
    [pool] = apart.built.bundle.pools
    shared_by: set[tuple[str, str]] = set()
    for first, second in permutations(names, 2):
        apart.infer(names.index(first), cases[first])
        bytes_ = apart.bytes_of(first, pool.name)
        left = bytes_.copy()
        apart.infer(names.index(second), cases[second])
        if np.may_share_memory(bytes_, apart.bytes_of(second, pool.name)):
            shared_by.add((first, second))
            assert not np.array_equal(bytes_, left), (first, second)
        else:
            assert np.array_equal(bytes_, left), (first, second)
    assert not any(
        (first, second) in shared_by for group in CONCURRENT for first, second in permutations(group, 2)
    )
    assert {(KWS, AD), (AD, KWS), (KWS, SPEECH)} <= shared_by


@pytest.mark.thorough
def test_steps_of_concurrent_models_interleave(tmp_path: Path) -> None:
    """One step of this model, one of that, in random order: both end with the goldens' outputs."""
    options = Options(board="host", concurrent=((KWS, AD),), interface=Interface(entry=EntryMode.STEPS))
    indices = {KWS: 0, AD: 3}
    built = build([model_path(KEYS[index]) for index in indices.values()], options, tmp_path / "build")
    product, rng, cases = Product(built, tmp_path), random.Random(11), _cases()
    for _ in range(50):
        chosen = {name: rng.choice(cases[index]) for name, index in indices.items()}
        left: list[str] = []
        for planned in built.models:
            name = planned.program.name
            product.write(name, chosen[name])
            left += [name] * len(planned.program.steps.prim_funcs)
        rng.shuffle(left)
        done = dict.fromkeys(chosen, 0)
        for name in left:
            assert getattr(product.library, f"{name}_step")(done[name]) == 0
            done[name] += 1
        for planned in built.models:
            name = planned.program.name
            wanted = chosen[name].expected
            assert wanted is not None
            assert product.read(name) == [np.ascontiguousarray(each).tobytes() for each in wanted]


def test_concurrent_pools_are_as_small_as_can_be(apart: Product, shared: Product) -> None:
    """vww lies apart from kws and from ad, which share: the sum of vww and the larger of the two."""
    sizes = {one.program.name: own_pools(one.program)[0].size_bytes for one in apart.built.models}
    [pool] = apart.built.bundle.pools
    below, above = sizes[VWW], max(sizes[KWS], sizes[AD])
    # One begins where the other ends, at a multiple of the pool's alignment.
    assert pool.size_bytes == min(-(-low // 16) * 16 + high for low, high in ((below, above), (above, below)))
    plan = document(apart.built, Options(board="host", concurrent=CONCURRENT))["plan"]
    assert isinstance(plan, dict)
    assert plan["peak_bytes"] == plan["lower_bound_bytes"]
    assert not faults(apart.built.bundle)
    # The checker sees what is wrong with bases that the planner did not make.
    wrong = replace(together([one.program for one in shared.built.models]), concurrent=CONCURRENT)
    assert any(f"{KWS} and {VWW} are concurrent and share bytes" in text for text in faults(wrong))


@pytest.mark.qemu
@pytest.mark.parametrize("concurrent", [(), CONCURRENT])
@pytest.mark.sampled(1)
def test_four_models_in_one_boot(tmp_path: Path, concurrent: tuple[tuple[str, ...], ...]) -> None:
    """Outputs, peaks (each from its own base), guards, stack; then a random sequence without a reset."""
    built = _build("mps2-an386", tmp_path / "build", concurrent)
    cases = [own[:1] for own in _cases()]
    assert not all_complaints(built, cases, execute_all(built, cases))
    [pool] = built.bundle.pools
    start, size = built.image.symbols["models_sram_pool"]
    region = built.board.region("SRAM")
    assert region.address <= start and start + size <= region.end and size == pool.size_bytes
    where = {
        one.program.name: range(
            start + built.bundle.base(one.program.name, "sram"),
            start + built.bundle.base(one.program.name, "sram") + own_pools(one.program)[0].size_bytes,
        )
        for one in built.models
    }
    for group in concurrent:
        for first in group:
            for second in group:
                assert first == second or not set(where[first]) & set(where[second])
    _run_sequence(built, random.Random(7), 10)


@pytest.mark.qemu
@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_any_sequence_of_models_is_exact_on_target(tmp_path: Path, part: int) -> None:
    """1,000 sequences in all, a hundred to a boot, none of them begun by a reset."""
    built = _build("mps2-an386", tmp_path / "build")
    rng = random.Random(part)
    _run_sequence(built, rng, sum(rng.randint(2, 5) for _ in range(SEQUENCES // 10)))


def _run_sequence(built: Built, rng: random.Random, count: int) -> None:
    """`count` inferences of random models in one boot, each equal to its golden."""
    cases = _cases()
    with boards.session(built.image, built.board) as target:
        for index in (rng.randrange(len(KEYS)) for _ in range(count)):
            case = rng.choice(cases[index])
            planned = built.models[index]
            wanted = replace(request(planned.program, [case], model=index), paints=(0xA5,))
            measured = measure(planned, [case], target.run(wanted))
            assert all(one.matches for one in measured.comparisons[0])
            assert measured.result.cases[0].guards_intact
