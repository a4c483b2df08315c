"""The example firmware of two models: both ways to build it, what it prints on QEMU, and its stacks."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import Timer
from types import ModuleType

import numpy as np
import pytest

from codegen.importers import load
from codegen.ir.evaluate import evaluate
from codegen.targets.arm import ARM_PREFIX
from tests.checkout import ROOT

FOLDER = ROOT / "examples" / "two_models"
NAMES = ("silence", "500 Hz", "1000 Hz", "1500 Hz", "2000 Hz")
FREERTOS = os.environ.get("FREERTOS_DIR", "")
"""The sources of FreeRTOS's kernel, which are not part of the repository."""

ON_TARGET = [
    pytest.mark.qemu,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("cmake", "make", f"{ARM_PREFIX}gcc")),
        reason="tools are missing",
    ),
]


@cache
def script() -> ModuleType:
    """`tone.py`, which writes the model and the inputs."""
    spec = importlib.util.spec_from_file_location("two_models_tone", FOLDER / "tone.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def classes(model: Path, inputs: np.ndarray) -> list[int]:
    """Classes by the NumPy evaluation of the file."""
    module = load(model)
    shape = module.main.params[0].type.shape
    rows = (row.reshape(shape) for row in inputs)
    return [int(evaluate(module, module.main, [row])[0].argmax()) for row in rows]


def expected_lines() -> list[str]:
    digits = classes(ROOT / "examples" / "digits" / "digits.tflite", script().images())
    tones = classes(FOLDER / "tone.tflite", script().recordings())
    lines: list[str] = []
    for index, (digit, tone) in enumerate(zip(digits, tones, strict=True)):
        lines += [f"digits {index}: {digit}", f"tone {index}: {NAMES[tone]}"]
    return lines


def test_the_files_are_what_the_script_writes() -> None:
    assert (FOLDER / "tone.tflite").read_bytes() == script().model()
    assert (FOLDER / "inputs.h").read_text() == script().header()


def test_the_model_hears_the_tone_that_a_fourier_transform_finds() -> None:
    """Each recording's strongest frequency, and those whose amplitude is below an eighth are silence."""
    recordings = script().recordings()
    bins = np.abs(np.fft.rfft(recordings / 128.0))
    tones = [round(tone * script().SAMPLES / script().RATE_HZ) for tone in script().TONES_HZ]
    loud = bins[:, tones].max(axis=1) > script().SILENCE
    found = np.where(loud, 1 + bins[:, tones].argmax(axis=1), 0)
    assert classes(FOLDER / "tone.tflite", recordings) == list(found) == [0, 1, 2, 3, 4]


def test_digits_sees_most_images_as_they_are_labelled() -> None:
    with np.load(script().DIGITS) as arrays:
        labels = arrays["labels"][: script().INPUTS]
    seen = classes(ROOT / "examples" / "digits" / "digits.tflite", script().images())
    assert np.count_nonzero(labels == seen) >= script().INPUTS - 1


# ---- on the target ----------------------------------------------------------------------


def call(folder: Path, *words: str | Path) -> None:
    inherited = {name: value for name, value in os.environ.items() if name != "FREERTOS_DIR"}
    environment = {**inherited, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr, done.stderr


def copied(folder: Path) -> Path:
    """The example's sources in a folder of the test's, beside the model that it borrows."""
    example = folder / "two_models"
    shutil.copytree(FOLDER, example, ignore=shutil.ignore_patterns("build", "models", "__pycache__"))
    (folder / "digits").mkdir()
    shutil.copy(ROOT / "examples" / "digits" / "digits.tflite", folder / "digits")
    return example


def made(example: Path, *settings: str) -> Path:
    """The ELF that make builds; it builds the models too."""
    call(example, "make", "-s", f"CODEGEN={sys.executable} -m codegen", *settings)
    return example / "build" / ("tasks" if "TASKS=1" in settings else "plain") / "two_models.elf"


def made_by_cmake(example: Path, models: Path, *settings: str) -> Path:
    """The ELF that CMake builds of the same folder of models."""
    build = example / "build" / "cmake"
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={models}/toolchain.cmake"
    call(example, "cmake", "-B", build, f"-DMODELS={models}", toolchain, *settings)
    call(example, "cmake", "--build", build)
    return build / "two_models.elf"


def sizes(image: Path) -> list[str]:
    done = subprocess.run([f"{ARM_PREFIX}size", image], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[1].split()[:3]


def loaded(image: Path) -> bytes:
    """All bytes that are loaded into the flash."""
    binary = image.with_suffix(".bin")
    subprocess.run([f"{ARM_PREFIX}objcopy", "-O", "binary", image, binary], check=True)
    return binary.read_bytes()


def printed(image: Path) -> Iterator[str]:
    """Lines of the UART up to "end", of QEMU that is stopped then or after a minute."""
    serial = ("-nographic", "-nodefaults", "-serial", "stdio", "-monitor", "none")
    words = ["qemu-system-arm", "-M", "mps2-an386", *serial, "-kernel", str(image)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as qemu:
        guard = Timer(60, qemu.kill)
        guard.start()
        try:
            assert qemu.stdout is not None
            for line in qemu.stdout:
                if line.strip() == "end":
                    return
                yield line.strip()
        finally:
            guard.cancel()
            qemu.kill()
    raise AssertionError("the firmware did not come to its end")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with main.c, built by make."""
    return made(copied(tmp_path_factory.mktemp("plain")))


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with main_tasks.c and the stand-in, built by make."""
    return made(copied(tmp_path_factory.mktemp("tasks")), "TASKS=1")


def readme_block(first: str) -> list[str]:
    blocks = re.findall(r"^```\n(.*?)^```$", (FOLDER / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    [found] = [block.splitlines() for block in blocks if block.startswith(first)]
    return found


class TestOnTarget:
    pytestmark = ON_TARGET

    def test_both_models_give_the_classes_of_the_reference(self, plain: Path) -> None:
        lines = list(printed(plain))
        assert lines == expected_lines()
        assert [*lines, "end"] == readme_block("digits 0")

    @pytest.mark.parametrize("with_tasks", [False, pytest.param(True, marks=pytest.mark.thorough)])
    @pytest.mark.thorough
    def test_cmake_builds_the_same_image(self, with_tasks: bool, request: pytest.FixtureRequest) -> None:
        image: Path = request.getfixturevalue("tasks" if with_tasks else "plain")
        settings = ["-DTASKS=ON"] if with_tasks else []
        other = made_by_cmake(image.parents[2], image.parent / "models", *settings)
        assert sizes(other) == sizes(image)
        assert loaded(other) == loaded(image)

    @pytest.mark.thorough
    def test_the_models_share_their_pool_unless_they_are_tasks(self, plain: Path, tasks: Path) -> None:
        """As README says: the largest of the two needs, and their sum."""
        readme = (FOLDER / "README.md").read_text()
        found: list[int] = []
        for image in (plain, tasks):
            text = (image.parent / "models" / "models_pools.h").read_text()
            [size] = re.findall(r"MODELS_SRAM_POOL_SIZE +(\d+)u", text)
            found.append(int(size))
        assert found[0] < found[1]
        assert all(f"{size:,}" in readme for size in found)

    def test_tasks_stay_on_their_stacks(self, tasks: Path) -> None:
        """What the first run took is painted over: more than nothing, and at most the static bound."""
        lines = list(printed(tasks))
        used = {name: pair for name, pair in map(stack_line, lines) if name}
        assert [line for line in lines if not stack_line(line)[0]] == expected_lines()
        for model in ("digits", "tone"):
            bound = stack_bytes(tasks, model)
            assert used[model][1] == bound
            assert 0 < used[model][0] <= bound
            taken, available = used[f"task {model}"]
            assert used[model][0] < taken <= available - (52 * 4)  # nothing has interrupted it
            assert available == bound + 256 + 52 * 4

    def test_a_stack_that_is_too_small_stops_the_build(self, plain: Path) -> None:
        models = plain.parent / "models"
        words = [f"{ARM_PREFIX}gcc", "-mcpu=cortex-m4", "-fsyntax-only", f"-I{models}", "startup.c"]
        enough = stack_bytes(plain, "digits") + 256
        for size, text in ((enough, ""), (enough - 8, "too small for digits: raise MAIN_STACK_BYTES")):
            command = [*words, f"-DMAIN_STACK_BYTES={size}u"]
            done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
            assert bool(done.returncode) == bool(text), done.stderr
            assert text in done.stderr

    def test_an_error_of_a_model_is_told(self, plain: Path, tmp_path: Path) -> None:
        """A model that fails, in place of tone: its status is on the UART, and nothing runs on."""
        shutil.copytree(plain.parents[3], tmp_path / "examples")
        example = tmp_path / "examples" / "two_models"
        text = (example / "main.c").read_text()
        assert text.count("tone_run(&") == 1
        failing = (
            "static cg_status failing_run(const tone_inputs *in, const tone_outputs *out)\n"
            "{\n    (void)in;\n    (void)out;\n    return CG_ERR_INPUT;\n}\n"
        )
        text = text.replace("int main(void)", f"{failing}int main(void)")
        (example / "main.c").write_text(text.replace("tone_run(&", "failing_run(&"))
        assert list(printed(made(example)))[1:] == ["tone failed with status 2"]

    @pytest.mark.skipif(not FREERTOS, reason="FREERTOS_DIR is not set")
    def test_freertos_runs_the_same_tasks(self, tmp_path: Path) -> None:
        lines = list(printed(made(copied(tmp_path), "TASKS=1", f"FREERTOS_DIR={FREERTOS}")))
        assert sorted(line for line in lines if not stack_line(line)[0]) == sorted(expected_lines())
        for name, (used, available) in map(stack_line, lines):
            if name.startswith("task "):
                assert 0 < used < available


def stack_line(line: str) -> tuple[str, tuple[int, int]]:
    """Name, bytes used and bytes there of a line about a stack; an empty name for any other line."""
    found = re.fullmatch(r"(.+): (\d+) of (\d+) bytes of stack", line)
    return (found[1], (int(found[2]), int(found[3]))) if found else ("", (0, 0))


def stack_bytes(image: Path, model: str) -> int:
    text = (image.parent / "models" / f"{model}.h").read_text()
    [size] = re.findall(rf"{model.upper()}_STACK_BYTES (\d+)u", text)
    return int(size)
