"""Libraries without flags of their own: Arduino, PlatformIO, CMSIS-Pack, TVM's Model Library Format.

Arduino's core is imitated: its flags, its one folder of headers, `Serial` and what calls `setup` and `loop`.
"""

import configparser
import json
import os
import re
import shutil
import subprocess
import tarfile
import xml.etree.ElementTree as Xml
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.commands import codegen
from tests.tools.packages.bare import GCC, Bare, call, export, flags, needs_tools, printed

NAME = ("--name", "senses", "--version", "1.2.3", "--vendor", "Acme")
CORE = ["-Os", "-w", "-ffunction-sections", "-fdata-sections"]
"""As Arduino's cores compile libraries: for size, GNU's C, no word of aliasing."""

ARDUINO_H = """
#pragma once
#include <stdint.h>
#include <stdio.h>
struct Print {
    void begin(long) {}
    void print(const char *text) { printf("%s", text); }
    void print(char letter) { printf("%c", letter); }
    void print(long number) { printf("%ld", number); }
    void println(const char *text) { printf("%s\\n", text); }
};
extern Print Serial;
static inline void delay(unsigned long) {}
void setup();
void loop();
"""
ARDUINO_MAIN = "#include <Arduino.h>\nPrint Serial;\nint main() { setup(); loop(); return 0; }\n"
_TVM_MAIN = """
#include <stdio.h>
#include "tvmgen_digits.h"
#include "sample_input.h"
int main(void)
{
    static int8_t image[TVMGEN_DIGITS_IMAGE_SIZE], odds[TVMGEN_DIGITS_ODDS_SIZE];
    struct tvmgen_digits_inputs inputs = {image};
    struct tvmgen_digits_outputs outputs = {odds};
    int best = 0;
    for (int i = 0; i < TVMGEN_DIGITS_IMAGE_SIZE; i++) {
        image[i] = digits_image_sample[i];
    }
    if (tvmgen_digits_run(&inputs, &outputs) != 0) {
        return 1;
    }
    for (int i = 1; i < TVMGEN_DIGITS_ODDS_SIZE; i++) {
        best = (odds[i] > odds[best]) ? i : best;
    }
    const float value = 1000.0f * digits_dequantize_odds(odds[best]);
    printf("digits.odds: class %d, value %d/1000\\n", best, (int)value);
    return 0;
}
"""


def texts(folder: Path) -> dict[str, bytes]:
    """Sources and headers by their name."""
    kinds = {".c", ".S", ".h", ".inc"}
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.suffix in kinds}


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in {".c", ".S"})


@pytest.fixture(scope="module")
def arduino(two: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(two, "arduino", tmp_path_factory.mktemp("arduino") / "senses", *NAME)


@pytest.fixture(scope="module")
def objects(arduino: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a core's build makes of `src`: every source in it, its top as include path."""
    folder = tmp_path_factory.mktemp("objects")
    words = [*flags(), *CORE, "-std=gnu11", "-I", str(arduino / "src"), "-c"]
    call(GCC, *words, *map(str, sources(arduino / "src")), folder=folder)
    return sorted(map(str, folder.glob("*.o")))


def sketch(text: Path, library: Path, objects: Sequence[str], bare: Bare, folder: Path) -> list[str]:
    """What a sketch prints that is compiled as C++ with the core."""
    (folder / "Arduino.h").write_text(ARDUINO_H)
    (folder / "core.cpp").write_text(ARDUINO_MAIN)
    shutil.copy(text, folder / "sketch.cpp")
    shutil.copy(text.with_name("sample_input.h"), folder)
    words = [*flags(), "-Os", "-Wall", "-Wextra", "-Werror", "-std=gnu++11", "-fno-exceptions", "-fno-rtti"]
    words += ["-I", str(folder), "-I", str(library / "src"), "core.cpp", "sketch.cpp"]
    call(GCC, *words, *objects, *bare.link_flags, "-o", "image.elf", folder=folder)
    return printed(folder / "image.elf")


@needs_tools
@pytest.mark.qemu
def test_an_arduino_sketch_is_right_on_the_board(
    arduino: Path, objects: list[str], bare: Bare, lines: list[str], tmp_path: Path
) -> None:
    assert sketch(arduino / "examples/senses/senses.ino", arduino, objects, bare, tmp_path) == lines
    words = dict(
        line.split("=", 1) for line in (arduino / "library.properties").read_text().splitlines() if line
    )
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url"}
    assert needed | {"architectures", "includes"} == set(words)
    assert (words["name"], words["version"], words["author"]) == ("senses", "1.2.3", "Acme")
    assert (arduino / "src" / words["includes"]).is_file()
    # The index refuses an empty url, and boards without the instructions are no platform of it.
    assert words["url"] == "https://example.com/" and "*" not in words["architectures"]
    assert {"stm32", "nrf52"} <= set(words["architectures"].split(","))
    rows = [line.split("\t") for line in (arduino / "keywords.txt").read_text().splitlines() if line]
    assert ["digits_run", "KEYWORD2"] in rows and all(len(row) == 2 for row in rows)
    assert (arduino / "LICENSE").is_file() and "digits_run" in (arduino / "README.md").read_text()


@needs_tools
@pytest.mark.qemu
def test_a_platformio_project_is_right_on_the_board(
    two: Path, arduino: Path, objects: list[str], bare: Bare, lines: list[str], tmp_path: Path
) -> None:
    package = export(two, "platformio", tmp_path / "package", *NAME)
    assert texts(package / "src") == texts(arduino / "src")  # so the objects are its own
    manifest = json.loads((package / "library.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("senses", "1.2.3")
    [example] = manifest["examples"]
    assert [(package / example["base"] / name).is_file() for name in example["files"]] == [True, True]
    assert {"ststm32", "nordicnrf52"} <= set(manifest["platforms"]) and "*" not in manifest["platforms"]
    assert manifest["headers"] == ["senses.h"] and (package / "src" / "senses.h").is_file()
    # By its name PlatformIO would ask its registry for a library that somebody else may have called so.
    settings = (package / example["base"] / "platformio.ini").read_text()
    project = configparser.ConfigParser()
    project.read_string(settings)
    [environment] = project.sections()
    assert environment.startswith("env:") and project[environment]["board"] == environment[4:]
    [place] = re.findall(r"^lib_deps = symlink://(.*)$", settings, re.MULTILINE)
    assert (package / example["base"] / place).resolve() == package.resolve()
    main = package / example["base"] / "src" / "main.cpp"
    assert sketch(main, package, objects, bare, tmp_path) == lines


@needs_tools
def test_floats_are_summed_as_measured(arduino: Path, tmp_path: Path) -> None:
    """With a core's flags alone gcc contracts a product and a sum, and believes in types of pointers."""
    head = (arduino / "src" / "digits.c").read_text().split("#endif\n")[0] + "#endif\n"
    code = "float f(float a, float b, float c) { return a * b + c; }\n"
    code += "int g(int *a, float *b) { *a = 1; *b = 2.0f; return *a; }\n"
    found: dict[str, str] = {}
    for name, text in (("plain", code), ("packed", head + code)):
        (tmp_path / f"{name}.c").write_text(text)
        found[name] = call(GCC, *flags(), *CORE, "-std=gnu11", "-S", "-o", "-", tmp_path / f"{name}.c")
    assert "vfma" in found["plain"] and "vfma" not in found["packed"]
    assert len(re.findall(r"\bldr\b", found["packed"])) > len(re.findall(r"\bldr\b", found["plain"]))


@needs_tools
def test_a_model_that_takes_more_than_inputs_and_outputs(tmp_path: Path) -> None:
    """Its image of constants goes along, and the sketch says where to look."""
    model = Path(__file__).parents[3] / "examples" / "two_models" / "tone.tflite"
    words = ["--board", "host", "--constants", "external", "-q"]
    assert codegen("build", model, "-o", tmp_path / "built", *words) == 0
    library = export(tmp_path / "built", "arduino", tmp_path / "tone")
    data = tmp_path / "built" / "tone_constants.bin"
    assert (library / "extras" / data.name).read_bytes() == data.read_bytes()
    text = (library / "examples" / "tone" / "tone.ino").read_text()
    assert "#include <tone.h>" in text and "tone_run takes more than inputs and outputs here" in text
    assert "includes=tone.h" in (library / "library.properties").read_text().splitlines()
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    (tmp_path / "sketch.cpp").write_text(text)
    shutil.copy(library / "examples" / "tone" / "sample_input.h", tmp_path)
    call(
        "g++",
        "-fsyntax-only",
        "-Wall",
        "-Werror",
        f"-I{tmp_path}",
        f"-I{library / 'src'}",
        tmp_path / "sketch.cpp",
    )


# ---- CMSIS-Pack -------------------------------------------------------------------------


def missing(pdsc: Path) -> Iterator[str]:
    """What the schema demands (1.7) and a pdsc has not: our reading of it, no copy."""
    root = Xml.parse(pdsc).getroot()
    yield from (
        name
        for name in ("vendor", "name", "description", "url", "license", "releases/release")
        if root.find(name) is None
    )
    if not re.fullmatch(r"[\-_A-Za-z0-9]+", root.findtext("name", "")):
        yield "a name without spaces"
    ids = {each.get("id") for each in root.iterfind("conditions/condition")}
    for component in root.iterfind("components/component"):
        wanted = ("Cclass", "Cgroup", "Cversion")
        yield from (name for name in wanted if not 2 < len(component.get(name, "")) < 64)
        if component.get("condition") not in ids or not component.findtext("description"):
            yield "condition or description of the component"
        for file in component.iterfind("files/file"):
            if not (pdsc.parent / file.get("name", "-")).exists():
                yield f"file {file.get('name')}"
            if file.get("category") not in {"include", "header", "sourceC", "sourceAsm"}:
                yield f"category {file.get('category')}"


@needs_tools
def test_a_cmsis_pack_says_all_and_its_sources_find_their_headers(
    two: Path, arduino: Path, tmp_path: Path
) -> None:
    package = export(two, "cmsis-pack", tmp_path / "package", *NAME)
    pdsc = package / "Acme.senses.pdsc"
    assert list(missing(pdsc)) == []
    root = Xml.parse(pdsc).getroot()
    assert [each.get("Dcore") for each in root.iterfind("conditions/condition/require[@Dcore]")] == [
        "Cortex-M4"
    ]
    # Arm Compiler 5 knows neither C11 nor the attributes of GNU C.
    compilers = [
        (each.get("Tcompiler"), each.get("Toptions")) for each in root.iterfind("conditions/*/accept")
    ]
    assert ("ARMCC", "AC6") in compilers and ("ARMCC", None) not in compilers
    files = list(root.iterfind("components/component/files/file"))
    named = {category: [each.get("name", "") for each in files if each.get("category") == category]
             for category in ("include", "header", "sourceC", "sourceAsm")}  # fmt: skip
    assert {Path(name).name for name in named["sourceC"] + named["sourceAsm"]} == {
        path.name for path in sources(arduino / "src")
    }
    assert all(text == texts(arduino / "src")[name] for name, text in texts(package / "src").items())
    folders = [f"-I{package / name}" for name in named["include"]]
    call(GCC, *flags(), "-fsyntax-only", *folders, *named["sourceC"], folder=package)
    call(GCC, *flags(), "-E", "-o", os.devnull, *folders, named["sourceAsm"][0], folder=package)
    schema = os.environ.get("CMSIS_PACK_XSD")
    if schema and shutil.which("xmllint"):
        call("xmllint", "--noout", "--schema", schema, pdsc)


# ---- Model Library Format ---------------------------------------------------------------


@needs_tools
@pytest.mark.qemu
def test_a_model_library_has_the_plan_and_tvms_interface(
    two: Path, arduino: Path, objects: list[str], bare: Bare, lines: list[str], tmp_path: Path
) -> None:
    package = export(two, "mlf", tmp_path / "package")
    document = json.loads((package / "metadata.json").read_text())
    report = json.loads((two / "report.json").read_text())
    assert document["version"] == 7 and list(document["modules"]) == ["digits", "tone"]
    for each in report["models"]:
        module = document["modules"][each["model"]["name"]]
        assert module["model_name"] == each["model"]["name"] and module["executors"] == ["aot"]
        assert {"export_datetime", "target", "style", "external_dependencies"} <= set(module)
        [main] = module["memory"]["functions"]["main"]
        assert main["workspace_size_bytes"] == each["plan"]["peak_bytes"]
        assert main["constants_size_bytes"] == sum(step["constant_bytes"] for step in each["steps"])
        sizes = [pool["size_bytes"] for pool in module["memory"]["pools"] if not pool["is_constant"]]
        assert sizes == [pool["size_bytes"] for pool in each["plan"]["pools"]]
    digits = document["modules"]["digits"]["memory"]["functions"]["main"][0]
    assert digits["inputs"] == {"image": {"size": 64, "dtype": "int8"}} and digits["io_size_bytes"] == 74
    host = package / "codegen" / "host"
    assert all(texts(arduino / "src").get(name, text) == text for name, text in texts(host).items())
    include = ["-I", str(host / "include")]
    names = [str(path) for path in (host / "src").glob("*.c")]
    call(GCC, *flags(), "-fsyntax-only", *include, *names)
    (tmp_path / "main.c").write_text(_TVM_MAIN)
    shutil.copy(arduino / "examples" / "senses" / "sample_input.h", tmp_path)
    words = [*flags(), "-Os", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable"]
    words += [*include, f"-I{arduino / 'src'}", "main.c", *objects]
    call(GCC, *words, *bare.link_flags, "-o", "image.elf", folder=tmp_path)
    assert printed(tmp_path / "image.elf") == lines[:1]


@pytest.mark.parametrize(
    ("form", "made", "inside"),
    [
        (
            "cmsis-pack",
            "Acme.senses.1.2.3.pack",
            {"Acme.senses.pdsc", "LICENSE", "README.md", "src/digits.c"},
        ),
        ("mlf", "senses.tar", {"./metadata.json", "./README.md", "./codegen/host/src/digits.c"}),
    ],
)
def test_the_printed_command_makes_one_file(
    form: str,
    made: str,
    inside: set[str],
    two: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert codegen("export", two, "--as", form, "-o", "a package", *NAME) == 0
    [command] = re.findall(r"^next +(.*)$", capsys.readouterr().out, re.MULTILINE)
    subprocess.run(command, shell=True, check=True)
    if made.endswith(".pack"):
        with zipfile.ZipFile(made) as archive:
            names = set(archive.namelist())
    else:
        with tarfile.open(made) as archive:
            names = set(archive.getnames())
    assert inside <= names and not {name for name in names if name.endswith(".codegen")}
