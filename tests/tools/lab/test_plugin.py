"""The fixture `target` in a project of a user's: pytest runs in it, on QEMU."""

import textwrap
from pathlib import Path

import pytest

from tests.networks import model_path

pytest_plugins = ["pytester"]
TEST = """
    import numpy as np
    import pytest
    from codegen import CodegenError

    MODEL = {model!r}

    def test_sine(target):
        answer = target.run(MODEL, [np.zeros((1, 1), np.int8)])
        assert answer.outputs[0].shape == (1, 1) and answer.outputs[0].dtype == np.int8
        assert answer.report.board.name == "microbit"
        assert answer.report.run.pools[0].peak_bytes == answer.report.plan.pools[0].peak_bytes
        with pytest.raises(CodegenError, match="E701"):
            wrong = answer.outputs[0] ^ np.int8(1)
            target.run(MODEL, [np.zeros((1, 1), np.int8)], [wrong])
        with pytest.raises(CodegenError, match="E222"):
            target.run(MODEL, [np.zeros((2, 2), np.float32)])
        with pytest.raises(CodegenError, match="E204"):
            target.run("none.tflite")
"""


@pytest.mark.qemu
def test_a_users_test(pytester: pytest.Pytester) -> None:
    model = str(model_path("dense_chain"))
    pytester.makepyfile(textwrap.dedent(TEST).format(model=model))
    pytester.runpytest_inprocess("--codegen-board", "microbit").assert_outcomes(passed=1)


def test_a_board_that_cannot_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(target): pass")
    found = pytester.runpytest_inprocess("--codegen-board", "nucleo-f446re")
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*E609*nucleo-f446re: QEMU does not emulate this board*"])


def test_the_flags_are_listed(pytester: pytest.Pytester) -> None:
    pytester.runpytest_inprocess("--help").stdout.fnmatch_lines(["*--codegen-board=BOARD*"])


def test_nothing_heavy_is_imported(tmp_path: Path, pytester: pytest.Pytester) -> None:
    """pytest loads the plugin in every run of everybody."""
    (tmp_path / "ask.py").write_text(
        "import importlib, sys, codegen.pytest_plugin\n"
        "for name in codegen.pytest_plugin.pytest_plugins: importlib.import_module(name)\n"
        "for name in sorted(n for n in sys.modules if n.startswith(('codegen', 'numpy', 'click'))):"
        " print(name)"
    )
    light = ("", ".api", ".api.tool", ".late_imports", ".pytest_plugin", ".tools", ".tools.lab")
    names = [f"codegen{name}" for name in light] + ["codegen.tools.lab.pytest_plugin"]
    assert pytester.runpython(tmp_path / "ask.py").outlines == names


def test_the_fixture_comes_before_labgrids(pytester: pytest.Pytester) -> None:
    """labgrid has a fixture of this name. Which of both a test got was the order of a folder's files."""
    theirs = "import pytest\n@pytest.fixture\ndef target(): return 'labgrid'\n"
    pytester.makepyfile(
        theirs=f"{theirs}def pytest_addoption(parser): parser.addoption('--lg-env', dest='lg_env')",
        test_both="def test_it(target): assert type(target).__name__ == 'FixtureTarget'",
    )
    pytester.syspathinsert()
    words = ("-p", "no:codegen", "-p", "no:labgrid", "-p", "codegen.pytest_plugin", "-p", "theirs")
    pytester.runpytest_inprocess(*words).assert_outcomes(passed=1)
    pytester.runpytest_inprocess(*words, "--lg-env", "env.yaml").assert_outcomes(failed=1)
