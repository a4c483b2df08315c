"""Folders that were built apart are linked into one image, in any order: right results or a link error."""

import shutil
import subprocess
from itertools import permutations

import pytest

from codegen.toolchain import Optimize, gcc
from tests.e2e.libraries import RIGHT, Library, Shop, run
from tests.e2e.models import golden_cases

BUILDS: tuple[tuple[str, Optimize], ...] = (
    ("mlperf_tiny/kws_ref_model", "size"),
    ("mlperf_tiny/vww_96_int8", "balanced"),
    ("mlperf_tiny/str_ww_ref_model", "size"),
    ("mlperf_tiny/ad01_int8", "balanced"),
    ("tflm/micro_speech_quantized", "size"),
    ("tflm/person_detect", "speed"),
    ("mlperf_tiny/pretrainedResnet_quant", "size"),
    ("mlperf_tiny/kws_ref_model", "balanced"),
)
"""Convolutions in tiles of two pixels and one alone, of four, fully connected layers, depthwise ones."""
USUAL = 3

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(shutil.which(f"{gcc.ARM_PREFIX}gcc") is None, reason="the compiler is missing"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def libraries(shop: Shop) -> list[Library]:
    return [shop.library(key, optimize, golden_cases(key)[0]) for key, optimize in BUILDS[:USUAL]]


def test_each_pair_of_folders_is_right_in_both_orders(shop: Shop, libraries: list[Library]) -> None:
    """vww_96, with tiles of four pixels, behind kws, without: every output of vww was wrong, and CG_OK."""
    for first, second in permutations(libraries, 2):
        assert run(shop.link(first, second)) == RIGHT, (first.label, second.label)


@pytest.mark.long
def test_every_pair_of_folders_is_right_in_both_orders(shop: Shop, libraries: list[Library]) -> None:
    rest = [shop.library(key, optimize, golden_cases(key)[0]) for key, optimize in BUILDS[USUAL:]]
    for first, second in permutations([*libraries, *rest], 2):
        if first.name != second.name:
            assert run(shop.link(first, second)) == RIGHT, (first.label, second.label)
            continue
        with pytest.raises(subprocess.CalledProcessError) as caught:
            shop.link(first, second)
        assert f"{first.name}_ERROR_built_twice__build_one_with_option_name" in caught.value.stderr


def test_a_file_of_the_runtime_is_the_same_in_every_folder(libraries: list[Library]) -> None:
    """A header of the runtime said which tiles a folder has, and kernels of one name were of two kinds."""
    texts: dict[str, bytes] = {}
    for library in libraries:
        runtime = library.folder / "runtime"
        for path in sorted(file for file in runtime.rglob("*") if file.is_file()):
            name = str(path.relative_to(runtime))
            assert texts.setdefault(name, path.read_bytes()) == path.read_bytes(), (library.label, name)
    assert "kernels/conv2d_s8_dsp.c" in texts and "kernels/conv2d_2_s8_dsp.c" in texts
