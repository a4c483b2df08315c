"""The supported Python interface: reports are values with types, failures are errors with messages."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from enum import Enum
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
import pytest

import codegen
import codegen.api
from codegen import disk
from codegen.driver.inputs.files import example_model
from codegen.program.interface import Interface
from tests.checkout import ROOT
from tests.networks import model_path

HELLO, SPEECH = (model_path(name) for name in ("dense_chain", "speech"))


def _known(value: object) -> object:
    """A document without what is null: a missing part and a null one are None, both."""
    if isinstance(value, dict):
        items = cast("Mapping[str, object]", value).items()
        return {key: _known(part) for key, part in items if part is not None}
    return [_known(part) for part in cast("list[object]", value)] if isinstance(value, list) else value


def _plain(report: codegen.Report) -> object:
    return _known(json.loads(msgspec.json.encode(report)))


def test_the_package_hands_on_the_interface() -> None:
    assert (codegen.build, codegen.run) == (codegen.api.build, codegen.api.run)


def test_a_build_of_several_models_has_every_key_of_its_report(tmp_path: Path) -> None:
    report = codegen.build([HELLO, SPEECH], tmp_path / "out", codegen.Options(board="host"))
    document = json.loads((tmp_path / "out" / "report.json").read_text())
    assert _plain(report) == _known(document)
    assert report.models is not None and report.plan is not None
    assert [each.model.name for each in report.models if each.model] == [HELLO.stem, SPEECH.stem]


def test_a_run_has_every_key_of_its_report(tmp_path: Path) -> None:
    inputs = (np.array([[7]], np.int8),)
    cases = {HELLO.stem: [codegen.Case(name="seven", inputs=inputs)]}
    options = codegen.Options(board="host")
    report = codegen.run(HELLO, options, cases=cases, folder=tmp_path / "out")
    assert _plain(report) == _known(json.loads((tmp_path / "out" / "report.json").read_text()))
    assert report.run is not None and report.plan is not None
    assert [output.matches for output in report.run.outputs] == [True]
    assert report.run.pools[0].peak_bytes == report.plan.pools[0].peak_bytes


def test_outputs_that_differ_are_an_error() -> None:
    wrong = codegen.Case(
        name="wrong", inputs=(np.zeros((1, 1), np.int8),), expected=(np.full((1, 1), 99, np.int8),)
    )
    with pytest.raises(codegen.CodegenError) as caught:
        codegen.run(str(HELLO), codegen.Options(board="host"), cases={HELLO.stem: [wrong]})
    assert (caught.value.messages[0].code, int(caught.value.exit_code)) == ("E701", 7)


def test_a_plan_needs_no_toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    report = codegen.plan(example_model(), codegen.Options(board="netduinoplus2"))
    assert report.plan is not None and report.plan.peak_bytes == report.plan.lower_bound_bytes == 1392
    assert report.elf is None and report.run is None
    with pytest.raises(codegen.CodegenError, match=r"E204\] no file none.tflite"):
        codegen.plan("none.tflite")


def test_importing_codegen_imports_nothing_else() -> None:
    """`codegen --help` would be as slow as a build."""
    listed = (
        "import codegen, sys; print(*(n for n in sys.modules if n.split('.')[0] in ('codegen', 'numpy')))"
    )
    done = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["codegen"]
    nothing: Any = codegen
    with pytest.raises(AttributeError, match="no attribute 'forty_two'"):
        _ = nothing.forty_two


def test_the_package_says_that_it_has_types() -> None:
    """A wheel without py.typed: type checkers ignore every annotation."""
    assert (Path(str(codegen.__file__)).parent / "py.typed").is_file()


def _told(call: Callable[[], object]) -> str:
    with pytest.raises(codegen.CodegenError) as caught:
        call()
    return str(caught.value)


_WRONG: Any = {
    "board": 3,
    "optimize": "fast",
    "seed": True,
    "pool_limits": {"sram": "32K"},
    "io": "caller",
    "schedule": "best",
    "app_elf": "app.elf",
    "deadline_seconds": -1,
    "concurrent": (("a", ""),),
    "interface": Interface(entry=cast("Any", "steps")),
}


def test_wrong_options_are_told_all_at_once_before_any_work() -> None:
    """They were a KeyError, a TypeError or an AttributeError of some stage, one after another."""
    wrong = codegen.Options(**_WRONG)
    for call in (
        lambda: codegen.plan("none.tflite", wrong),
        lambda: codegen.build("none.tflite", "out", wrong),
        lambda: codegen.run("none.tflite", wrong),
    ):
        text = _told(call)
        assert text.count("error[") == len(_WRONG)
        for name in _WRONG:
            code = {"pool_limits": "E203", "concurrent": "E255"}.get(name, "E201")
            assert f"error[{code}] {name} " in text
        assert "optimize is one of 'speed', 'balanced', 'size', not str 'fast'" in text
    assert "of sram is -1" in _told(
        lambda: codegen.plan(HELLO, codegen.Options(pool_limits=cast("Any", {"sram": -1})))
    )
    assert "E201] options are a codegen.Options" in _told(lambda: codegen.plan(HELLO, cast("Any", {})))


def test_wrong_models_folders_and_ports_are_told() -> None:
    """No model at all was an IndexError, a number a TypeError."""
    assert "E201] there is no model" in _told(lambda: codegen.build([], "out"))
    text = _told(lambda: codegen.run(cast("Any", ["none.tflite", 5])))
    assert "E204] no file none.tflite" in text and "E201] a model is a path, not int 5" in text
    assert "E201] folder is a path" in _told(lambda: codegen.build(HELLO, cast("Any", 7)))
    assert "E201] port is a string or None" in _told(lambda: codegen.run(HELLO, port=cast("Any", 7)))


def test_wrong_cases_are_told_before_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ValueError after a whole build."""
    monkeypatch.setenv("PATH", "")  # no compiler: a build would be E501
    cases: Any = {"other": [], HELLO.stem: [codegen.Case(name="a", inputs=cast("Any", [3])), 4]}
    text = _told(lambda: codegen.run(HELLO, codegen.Options(board="host"), cases=cases))
    assert f"E257] cases of other: the build has no such model\nhelp: its models are {HELLO.stem}" in text
    assert f"E222] cases of {HELLO.stem}, 0: inputs are no tuple of arrays: list [3]" in text
    assert f"E201] cases of {HELLO.stem}, 1: is int 4, not a codegen.Case" in text


def test_arrays_that_do_not_fit_the_model_are_told_all_at_once() -> None:
    """They were a ValueError of NumPy, or wrong bytes on the target."""
    floats = codegen.Case(name="floats", inputs=(np.zeros(3),), expected=(np.zeros(2, np.int8),))
    cases = {HELLO.stem: [codegen.Case(name="none", inputs=()), floats]}
    text = _told(lambda: codegen.run(HELLO, codegen.Options(board="host"), cases=cases))
    assert "E221] case none: has 0 input arrays, the model 1 input" in text
    assert "E222] case floats: an array is float64[3], input 0 is int8[1,1]" in text
    assert "E222] case floats: an array is int8[2], output 0 is int8[1,1]" in text


def test_a_file_that_was_changed_meanwhile_is_a_warning_of_the_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`codegen.build` dropped E236; the command prints it."""
    codegen.build(HELLO, tmp_path, codegen.Options(board="host"))
    header = next(tmp_path.rglob(f"{HELLO.stem}.h"))
    exchange = disk.exchange

    def edited(one: Path, other: Path) -> bool:
        if other == tmp_path:
            header.write_text("mine")
        return exchange(one, other)

    monkeypatch.setattr(disk, "exchange", edited)
    report = codegen.build(HELLO, tmp_path, codegen.Options(board="host"))
    assert report.warnings is not None
    assert [(each.code, each.text.split()[0]) for each in report.warnings] == [("E236", header.name)]


@pytest.mark.parametrize(
    "first",
    [
        "import codegen.plan",
        "from codegen.problem.problem import Problem",
        "import codegen.api",
        "codegen.build",
    ],
)
@pytest.mark.sampled(2)
def test_plan_is_the_function_whatever_was_imported_first(first: str) -> None:
    """`codegen.plan` is a sub-package too: imported first, it was that, and no function."""
    script = (
        f"import codegen\n{first}\nfrom codegen import plan\nfrom codegen.problem.problem import Pool\n"
        "print(codegen.plan is plan, plan.__name__, type(plan).__name__, Pool.__name__, dir(codegen))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"True plan function Pool {sorted(codegen.__all__)}"


def test_the_documented_options_are_those_that_there_are() -> None:
    """docs/python.md named neither fields nor defaults."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| `(.*)` \|$", _section("## Options"), re.MULTILINE)
    assert sorted(rows) == sorted((field.name, _default(field)) for field in fields(codegen.Options))
    rows = re.findall(r"^\| `(\w+)` \|.*\| `?(.*?)`? \|$", _section("## Case"), re.MULTILINE)
    assert rows == [(field.name, _default(field)) for field in fields(codegen.Case)]


def _section(title: str) -> str:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    return text.split(f"{title}\n")[1].split("\n## ")[0]


def _default(field: Field[Any]) -> str:
    if field.default_factory is not MISSING:
        made = field.default_factory()
        return "{}" if isinstance(made, Mapping) else f"{type(made).__name__}()"
    if field.default is MISSING:
        return "needed"
    return str(field.default) if isinstance(field.default, Enum) else repr(field.default).replace("'", '"')
