"""The supported Python interface: reports are values with types, failures are errors with messages."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
import pytest

import codegen
import codegen.api
from codegen.driver.example import example_model
from tests.testdata import model_path

HELLO, SPEECH = (model_path(f"tflm/{name}") for name in ("hello_world_int8", "micro_speech_quantized"))


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
    with pytest.raises(ValueError, match="cases of other: the build has no such model"):
        codegen.run(HELLO, options, cases={"other": cases[HELLO.stem]})


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
