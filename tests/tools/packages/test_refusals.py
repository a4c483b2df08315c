"""What `export` does not take, said as promised; nothing is written then."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.board.catalog.board_names import absent_parts
from codegen.driver.built_report import read_report
from codegen.report_file import typed
from codegen.tools.packages.package_forms import FORMS
from tests.checkout import ROOT
from tests.commands import codegen

TONE = ROOT / "examples" / "two_models" / "tone.tflite"


@pytest.fixture(scope="module")
def tone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tone") / "built"
    assert codegen("build", TONE, "--board", "host", "-o", folder, "-q") == 0
    return folder


@pytest.fixture
def built(tone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a built folder, `built` of the current one."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(tone, tmp_path / "built")


def _without_product(built: Path) -> None:
    report = built / "report.json"
    report.write_text(report.read_text().replace('"product"', '"products"'))


def _renamed(built: Path) -> None:
    """`--as mlf` ended with a traceback (StopIteration)."""
    report = built / "report.json"
    document = json.loads(report.read_text())
    parts = document.get("models") or [document]
    parts[0]["model"]["name"] = "other"
    report.write_text(json.dumps(document))


def _of_no_level(built: Path) -> None:
    report = built / "report.json"
    document = json.loads(report.read_text())
    document["product"]["level"] = []
    report.write_text(json.dumps(document))


def _edited(built: Path) -> None:
    with (built / "tone.c").open("a") as file:
        file.write("/* mine */\n")
    (built / "cg_runtime.h").unlink()


def _foreign(built: Path) -> None:
    (built / "out").mkdir()
    (built / "out" / "notes.txt").write_text("mine")


def _outside(built: Path) -> None:
    """A report that somebody edited packed any file of the machine."""
    built.with_name("secret.c").write_text("secret")
    report = built / "report.json"
    report.write_text(report.read_text().replace('"tone.c",', '"../secret.c", "tone.c",', 1))


def _outside_by_manifest(built: Path) -> None:
    built.with_name("secret.c").write_text("secret")
    with (built / ".codegen").open("a") as manifest:
        manifest.write(f"{hashlib.sha256(b'secret').hexdigest()}  ../secret.c\n")


BROKEN: list[tuple[Callable[[Path], object], list[str], str]] = [
    (
        _without_product,
        [],
        "error[E291] built: is no folder of `codegen build`: its report.json does not say what an "
        "application compiles\nhelp: `codegen build -o DIR` writes one",
    ),
    (
        _renamed,
        ["--as", "mlf"],
        "error[E291] built: report.json says different things of other, tone\nhelp: it was changed after the",
    ),
    (_of_no_level, [], "error[E291] built: report.json names no model, or no level that it was compiled at"),
    (
        lambda built: (built / ".codegen").unlink(),
        [],
        "error[E291] built: has no .codegen, the list of what codegen wrote there\nhelp: give the folder of",
    ),
    (
        _edited,
        [],
        "error[E292] built: was changed or removed since codegen wrote it: "
        "cg_runtime.h, tone.c\n"
        "help: build again, so that what is packed is what was planned and measured",
    ),
    (
        lambda built: shutil.copytree(built, built.with_name("other")),
        ["-o", "other"],
        "error[E295] -o other: is a folder of `codegen build`, which a package would replace\n"
        "help: name another folder with -o",
    ),
    (_foreign, ["-o", "built/out"], "out: holds files, but no .codegen"),
    (
        lambda _: None,
        ["-o", "built"],
        "error[E218] -o built: is DIR, which would be lost\nhelp: name another",
    ),
    (
        lambda _: None,
        ["--name", "My Model", "--version", "1.0"],
        "error[E293] --name: 'My Model' is no name of a package: a letter, then letters, digits and _, "
        "48 at most\nhelp: try --name my_model\n"
        "error[E293] --version: '1.0' is no version: three numbers, as 1.0.0",
    ),
    (
        lambda _: None,
        ["--name", "cg_runtime"],
        "error[E293] --name: cg_runtime is what files of the models or of the runtime are called\n"
        "help: try --name runtime_package",
    ),
    (
        lambda _: None,
        ["--name", "aux"],
        "error[E293] --name: Windows has no files that are called aux: the name is a device's\n"
        "help: try --name aux_package",
    ),
    (
        _outside,
        [],
        "error[E291] built: names files outside of the folder: ../secret.c\nhelp: build again: its",
    ),
    (
        _outside_by_manifest,
        [],
        "error[E291] built: names files outside of the folder: ../secret.c\nhelp: build again: its",
    ),
    (
        lambda built: (built / "report.json").unlink(),
        [],
        "error[E204] no file built/report.json\nhelp: give a",
    ),
]


@pytest.mark.parametrize(("spoil", "words", "text"), BROKEN)
def test_what_is_refused(
    spoil: Callable[[Path], object],
    words: list[str],
    text: str,
    built: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spoil(built)
    before = sorted(built.rglob("*"))
    assert codegen("export", "built", "--as", "cmake", *words) == 2
    assert text in capsys.readouterr().err
    assert sorted(built.rglob("*")) == before
    assert not Path("out").exists()


def test_words_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert codegen("export", tmp_path / "none", "--as", "cmake") == 2
    assert "error[E204] no folder" in capsys.readouterr().err
    assert codegen("export", tmp_path, "--as", "makefile") == 2
    told = capsys.readouterr().err
    assert "error[E201]" in told and "'makefile' is not" in told and "cmake" in told


def test_json_names_the_folder_and_its_files(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert codegen("export", built, "--as", "cmake", "--json", "-o", "there", "--version", "2.1.0") == 0
    told = json.loads(capsys.readouterr().out)
    files = told.pop("files")
    assert told == {"schema": 1, "form": "cmake", "name": "tone", "version": "2.1.0", "folder": "there"}
    assert "CMakeLists.txt" in files and all((Path("there") / file).is_file() for file in files)
    assert codegen("export", built / "none", "--as", "cmake", "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["messages"][0]["code"] == "E204"


def test_an_export_again_is_the_same_and_keeps_what_is_beside_it(built: Path) -> None:
    first = ["export", str(built), "--as", "cmake", "-q"]
    assert codegen(*first) == 0
    package = Path("out/tone-cmake")
    texts = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    (package / "notes.txt").write_text("mine")
    assert codegen(*first, "--name", "tone") == 0
    assert (package / "notes.txt").read_text() == "mine"
    assert {path: path.read_bytes() for path in texts} == texts


@pytest.mark.parametrize("name", ["MyModel", "m", "Tone"])
def test_names_that_build_systems_take(name: str, built: Path) -> None:
    """CamelCase was refused, and so was a model named `m`, which builds."""
    for form in ("cmake", "arduino", "zephyr", "platformio", "cmsis-pack", "esp-idf"):
        assert codegen("export", "built", "--as", form, "--name", name, "-o", form, "-q") == 0
    headers = sorted(path.name.lower() for path in Path("arduino/src").glob("*.h"))
    assert len(headers) == len(set(headers))  # on a disk where Tone.h is tone.h too


def test_a_model_of_one_letter_is_built_and_exported(built: Path) -> None:
    small = shutil.copy(TONE, built.with_name("m.tflite"))
    assert codegen("build", small, "--board", "host", "-o", "small", "-q") == 0
    assert codegen("export", "small", "--as", "cmake", "-q") == 0
    assert Path("out/m-cmake/src/m.h").is_file()


def test_a_model_is_not_called_like_a_device_of_windows(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = shutil.copy(TONE, built.with_name("aux.tflite"))
    assert codegen("build", named, "--board", "host", "-o", "named", "-q") == 0
    assert Path("named/aux_model.c").is_file()
    assert codegen("build", named, "--name", "con", "--board", "host", "-o", "named", "-q") == 2
    assert "Windows has no files con.c and con.h: the name is a device's" in capsys.readouterr().err


def test_the_example_feeds_a_given_input(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    product = typed(read_report(built)).product
    assert product is not None
    [tensor] = product.models[0].inputs
    numbers = np.arange(tensor.elements, dtype=np.int8).reshape(tensor.shape)
    np.savez("x.npz", x0=numbers, y0=numbers.astype(np.float32))
    assert codegen("export", "built", "--as", "cmake", "--input", "x.npz", "-o", "fed", "-q") == 0
    text = Path("fed/example/sample_input.h").read_text()
    assert " 0, 1, 2, 3, 4, 5, 6, 7," in text and "Zeros, as no input was given" not in text
    np.savez("wrong.npz", x0=numbers.ravel()[:3])
    assert codegen("export", "built", "--as", "cmake", "--input", "wrong.npz", "-o", "fed", "-q") == 2
    assert "error[E222] wrong.npz: array x0 is int8[3], input 0 is" in capsys.readouterr().err


def test_boards_without_a_file_name_forms_that_are_there() -> None:
    """`--board esp32` says which package to export."""
    named = {part.package for part in absent_parts() if part.package}
    assert named and named <= set(FORMS)
