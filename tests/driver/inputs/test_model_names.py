"""What models are called: after their files, where that hides no header, or as `--name` says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.driver.inputs.models import GivenNames, model_names
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder

STANDARD = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
    "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
    "time wchar wctype "
)
"""Headers of C11 (N1570 7.1.2) but threads and uchar, which newlib lacks."""


def tiny(path: Path) -> Path:
    """A file with one layer."""
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 4), "int8", scale=0.5) for name in "xy")
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    path.write_bytes(model.build())
    return path


def called(*files: str, names: tuple[str, ...] = (), of_project: bool = False) -> list[str]:
    given = GivenNames(words=names, of_project=of_project)
    return [each.name for each in model_names([Path(file) for file in files], given)]


def refusal(*files: str, names: tuple[str, ...] = ()) -> str:
    with pytest.raises(CodegenError) as raised:
        called(*files, names=names)
    return str(raised.value)


def cli(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@pytest.mark.parametrize("compiler", ["gcc", "arm-none-eabi-gcc"])
def test_no_model_hides_a_header_that_c_code_includes(compiler: str) -> None:
    """A file called string.tflite made string.h, and with -I of its folder `#include <string.h>` found that.
    Which headers there are to hide is asked of the compiler: those of C11, and those that they include."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    text = "".join(f"#include <{name}.h>\n" for name in STANDARD.split())
    asked = [compiler, "-std=c11", "-x", "c", "-"]
    told = subprocess.run([*asked, "-E", "-v"], input=text, capture_output=True, text=True, check=True)
    searched = re.search(r"<\.\.\.> search starts here:\n(.*?)\nEnd of search", told.stderr, re.DOTALL)
    assert searched is not None
    folders = {Path(line.strip()).resolve() for line in searched[1].splitlines()}
    done = subprocess.run([*asked, "-M"], input=text, capture_output=True, text=True, check=True)
    found = {Path(word) for word in done.stdout.replace("\\\n", " ").split() if word.endswith(".h")}
    hidden = {path.stem for path in found if path.parent.resolve() in folders and path.stem[0] != "_"}
    assert hidden >= {"string", "stdint", "stddef"}
    assert not [name for name in sorted(hidden) if called(f"{name}.tflite") == [name]]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("string.tflite", "string_model"),
        ("stdint.tflite", "stdint_model"),
        ("cg_runtime.tflite", "cg_runtime_model"),
        ("CG Kernels.tflite", "cg_kernels_model"),
        ("measure.tflite", "measure_model"),
        ("float.tflite", "float_model"),
        ("requires.tflite", "requires_model"),
        ("kws.tflite", "kws"),
        ("strings_of_text.tflite", "strings_of_text"),
    ],
)
def test_a_file_named_like_a_header_or_a_word_gets_a_suffix_and_says_so(file: str, name: str) -> None:
    [found] = model_names([Path("models") / file])
    assert found.name == name
    assert bool(found.note) == name.endswith("_model")
    if found.note:
        assert f"{file}: the model is called {name}, because" in found.note


def test_models_named_like_headers_are_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """string.tflite, stdint.tflite and cg_runtime.tflite did not compile: their headers were found in place
    of the C library's and ours."""
    stems = ("string", "stdint", "cg_runtime")
    files = [str(tiny(tmp_path / f"{stem}.tflite")) for stem in stems]
    assert cli("build", *files, "--board", "host", "-o", str(tmp_path / "out")) == 0
    told = capsys.readouterr()
    for stem in stems:
        assert (tmp_path / "out" / f"{stem}_model.h").is_file()
        assert f"note: {stem}.tflite: the model is called {stem}_model, because" in told.err
        assert "(--name PREFIX takes another name)" in told.err
    folder = str(tmp_path / "out")
    assert (
        cli("build", *files, "--board", "host", "-o", folder, "--name", "a", "--name", "b", "--name", "c")
        == 0
    )
    assert "note:" not in capsys.readouterr().err
    assert {"a.h", "b.h", "c.h"} <= {path.name for path in (tmp_path / "out").glob("*.h")}


def test_names_are_given_in_order_or_by_the_file() -> None:
    assert called("v2/kws.tflite", names=("keywords",)) == ["keywords"]
    assert called("a/m.tflite", "b/m.tflite", names=("front", "back")) == ["front", "back"]
    assert called("kws.tflite", "vww.tflite", names=("vww=person",)) == ["kws", "person"]
    assert called("kws.tflite", "vww.tflite", names=("kws=vww", "vww=kws")) == ["vww", "kws"]
    assert called("string.tflite", names=("string_model=text",)) == ["text"]
    # Of codegen.toml: the models of a project, of which this build has one.
    assert called("kws.tflite", names=("kws=keywords", "vww=person"), of_project=True) == ["keywords"]


@pytest.mark.parametrize(
    ("files", "names", "text"),
    [
        (["kws"], ["7up"], "error[E227] --name 7up: '7up' cannot begin a C name"),
        (
            ["kws"],
            ["Kws"],
            "take lower-case letters, digits and single underscores, a letter first, 32 at most",
        ),
        (["kws"], ["a__b"], "'a__b' cannot begin a C name"),
        (["kws"], ["k" * 33], "cannot begin a C name"),
        (["kws"], ["string"], "a model cannot be called string: a header string.h of its own would hide"),
        (["kws"], ["cg_x"], "a model cannot be called cg_x: cg_x is a word of C, C++ or the runtime"),
        (["kws"], ["a", "b"], "--name a b: 2 names for 1 model"),
        (
            ["kws", "vww"],
            ["a"],
            "--name a: 1 name for 2 models\nhelp: give one a model, in their order, or kws=",
        ),
        (["kws", "vww"], ["a", "vww=b"], "PREFIX and NAME=PREFIX are mixed"),
        (["kws", "vww"], ["kwz=a"], "no model is called kwz\nhelp: by their files the models are kws, vww"),
        (["kws", "vww"], ["kws=a", "kws=b"], "kws gets two names"),
        (["a/m", "b/m"], ["m=a"], "2 files are called m"),
        (["a/m", "b/m"], [], "error[E205] two models are called m\nhelp: call them apart: --name PREFIX"),
        (["kws", "vww"], ["vww=kws"], "error[E205] two models are called kws"),
        (["kws", "kws_figures"], [], "error[E205] models kws and kws_figures would both write kws_figures.h"),
    ],
)
def test_names_that_cannot_be_are_refused(files: list[str], names: list[str], text: str) -> None:
    assert text in refusal(*(f"{file}.tflite" for file in files), names=tuple(names))


def test_codegen_toml_names_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny(tmp_path / "net.tflite")
    for text, exit_, told in (
        ('name = "front"\n', 0, '"name": "front"'),
        ('[name]\nnet = "front"\nother = "back"\n', 0, '"name": "front"'),
        ('name = "string"\n', 2, "] codegen.toml, line 1, key name: a model cannot be called string"),
        ("name = 3\n", 2, "name must be"),
    ):
        (tmp_path / "codegen.toml").write_text(text)
        assert cli("plan", "net.tflite") == exit_ if exit_ else cli("plan", "net.tflite", "--json") == 0
        printed = capsys.readouterr()
        assert told in printed.out + printed.err


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("größe.tflite", "gr_e"),
        ("a_model_with_a_name_of_more_than_32_letters.tflite", "a_model_with_a_name_of_more_than"),
        ("2nd.tflite", "model_2nd"),
    ],
)
def test_a_file_name_that_is_changed_is_told(file: str, name: str) -> None:
    """Letters went without a word, and the headers were called otherwise than expected."""
    [found] = model_names([Path(file)])
    assert found.name == name
    assert found.note.startswith(f"{file}: the model is called {name}, because C names have ASCII letters, ")
    assert model_names([Path("KWS v2.tflite")])[0].note == ""
