"""A module of Zephyr and a component of ESP-IDF, built by imitations of their CMake functions.

`zephyr` and `idf` beside this file hold what stands in for the real trees, which are gigabytes.
"""

import json
import re
from pathlib import Path

import pytest

from codegen.toolchain import elf
from tests.commands import codegen
from tests.tools.packages.bare import GCC, Bare, call, export, flags, needs_tools, printed

HERE = Path(__file__).parent


def address_of(image: Path, name: str) -> int:
    [found] = [each.address for each in elf.read(image).symbols if each.name.split(".")[0] == name]
    return found


@needs_tools
@pytest.mark.qemu
def test_a_zephyr_module_is_right_and_its_pool_where_it_is_sent(
    two: Path, lines: list[str], bare: Bare, tmp_path: Path
) -> None:
    module = export(two, "zephyr", tmp_path / "module", "--name", "senses")
    sample = module / "samples" / "senses"
    with (sample / "prj.conf").open("a") as settings:
        settings.write('CONFIG_MODEL_SENSES_POOL_SRAM_REGION="SRAM2"\n')
    words = [
        f"-DZephyr_DIR={HERE / 'zephyr'}",
        f"-DBARE_FLAGS={' '.join(flags())}",
        f"-DBARE_START={bare.start}",
    ]
    compiler = [f"-DCMAKE_C_COMPILER={GCC}", f"-DCMAKE_ASM_COMPILER={GCC}", "-DCMAKE_SYSTEM_NAME=Generic"]
    words += [*compiler, "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    call("cmake", "-S", sample, "-B", tmp_path / "b", *words)
    call("cmake", "--build", tmp_path / "b", "-j2")
    image = tmp_path / "b" / "zephyr.elf"
    assert printed(image) == lines
    assert 0x20300000 <= address_of(image, "models_sram_pool") < 0x20310000
    assert address_of(image, "odds") < 0x20300000
    with (sample / "prj.conf").open("a") as settings:
        settings.write('CONFIG_MODEL_SENSES_POOL_SRAM_REGION=""\n')
    call("cmake", "-S", sample, "-B", tmp_path / "b")
    call("cmake", "--build", tmp_path / "b", "-j2")
    assert 0x20000000 <= address_of(image, "models_sram_pool") < 0x20200000
    assert printed(image) == lines
    assert "\tdepends on CPU_CORTEX_M4 || CPU_CORTEX_M7 || ARMV8_M_DSP\n" in (module / "Kconfig").read_text()
    scenario = (sample / "sample.yaml").read_text()
    patterns = [json.loads(text) for text in re.findall(r'^ +- ("\w+.*")$', scenario, re.MULTILINE)]
    assert len(patterns) == len(lines)
    for pattern, line in zip(patterns, lines, strict=True):
        assert re.search(pattern, line)
        # It took "digits failed" for a success.
        assert not re.search(pattern, f"{line.split('.')[0]}: another call has not ended")
    known = re.findall(r"^(?:menu)?config (\w+)$", (module / "Kconfig").read_text(), re.MULTILINE)
    used = re.findall(r"CONFIG_(MODEL_\w+)", (module / "CMakeLists.txt").read_text())
    assert set(used) == set(known)


@needs_tools
def test_an_esp_idf_component_is_right_here(
    lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = HERE.parents[2] / "examples" / "two_models" / "tone.tflite"
    assert codegen("build", model, "--board", "host", "-o", tmp_path / "built", "-q") == 0
    component = export(
        tmp_path / "built", "esp-idf", tmp_path / "senses", "--version", "1.2.3", "--vendor", "acme"
    )
    monkeypatch.setenv("IDF_PATH", str(HERE / "idf"))
    call("cmake", "-S", component / "examples" / "basic", "-B", tmp_path / "b")
    call("cmake", "--build", tmp_path / "b", "-j2")
    image = tmp_path / "b" / "tone_example.elf"
    assert [line.rstrip() for line in call(image).splitlines()] == lines[1:]
    manifest = dict(re.findall(r"^(\w+): (.+)$", (component / "idf_component.yml").read_text(), re.MULTILINE))
    assert json.loads(manifest["version"]) == "1.2.3" and "portable C" in manifest["description"]


def test_kernels_of_arm_are_no_component(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert codegen("export", two, "--as", "esp-idf", "-o", tmp_path / "out") == 2
    assert capsys.readouterr().err == (
        "error[E294] --as esp-idf: has kernels for cortex-m4; an ESP32 has a core of Xtensa or RISC-V\n"
        "help: codegen build … --board host gives portable C, --board esp32-c3 its kernels; export that\n"
    )
    assert not (tmp_path / "out").exists()
