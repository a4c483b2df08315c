"""Options of the whole suite."""

import gc
import importlib
import os
from contextlib import suppress

import pytest
from hypothesis import is_hypothesis_test, settings

from codegen.cli.main import COLLECTED_AFTER
from codegen.search import falling_back
from tests import programs, sampling
from tests.checkout import ROOT
from tests.programs import as_users_compile as as_users_compile
from tests.programs import uncached as uncached

# No deadline: nothing is asserted about times. Derandomised: a run on main repeats; --long draws anew.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=sampling.examples(100))
settings.register_profile("thorough", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files from what is rendered now"
    )
    parser.addoption(
        "--thorough", action="store_true", help="run what `make test` leaves to `make test-rest`"
    )
    parser.addoption("--long", action="store_true", help="run the long sweeps too")
    parser.addoption("--public", action="store_true", help="run what needs the public networks too")
    parser.addoption(
        "--kernels",
        default="*",
        metavar="PATTERN",
        help="compile only kernels with such file names for this machine: quicker while one is written",
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(COLLECTED_AFTER)
    # What commands print is the same with and without engines; tests of engines say what they want.
    os.environ.setdefault("CODEGEN_REFERENCE", "numpy")
    falling_back.RAISES = True
    profile = next((name for name in ("long", "thorough") if config.getoption(f"--{name}")), "suite")
    sampling.is_thorough = profile != "suite"
    settings.load_profile(profile)
    programs.set_up(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """xdist's processes collect the same tests in the same order. Without bytecode of before, each compiled
    every module: none found what the other was just writing. So the second one begins at the end, the third
    in the middle."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 3
    if worker == 0 or session.config.args != session.config.getini("testpaths"):
        return
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    for path in reversed(paths) if worker == 1 else paths[len(paths) // 2 :]:
        with suppress(Exception, pytest.skip.Exception):  # whatever is wrong, collecting tells it
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say the processor time of this process, of xdist's and of all programs that tests started."""
    used = os.times()
    seconds = used.user + used.system + used.children_user + used.children_system
    terminalreporter.write_line(f"{seconds:,.0f} s of processor time, in all processes")


def pytest_collection_finish() -> None:
    """What the collected tests hold stays until the end: no need to look through it again and again."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `--long` leave out long sweeps, and of `covering` combinations all but a few; without
    `--thorough` too what `make test-rest` alone runs, with all but some cases of `sampled` tests."""
    _mark_sampled(items)
    if sampling.is_thorough:
        _mark_counted(items)
    if config.getoption("--long"):
        return
    marks = {"long"} if config.getoption("--thorough") else {"long", "thorough"}
    left_out = {item for item in items if marks & set(item.keywords)}
    combined: dict[str, list[pytest.Function]] = {}
    for item in items:
        if item not in left_out and "covering" in item.keywords and isinstance(item, pytest.Function):
            combined.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for several in combined.values():
        chosen = sampling.covering([_values(item) for item in several])
        left_out |= {item for number, item in enumerate(several) if number not in chosen}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _mark_counted(items: list[pytest.Item]) -> None:
    """Make tests `thorough` in a run whose examples are more than those of `make test`."""
    for item in items:
        if isinstance(item, pytest.Function) and (
            hasattr(item.module, "examples") or is_hypothesis_test(item.obj)
        ):
            item.add_marker("thorough")


def _mark_sampled(items: list[pytest.Item]) -> None:
    """Make the cases of `sampled` tests `thorough`, but for some."""
    cases: dict[str, list[pytest.Function]] = {}
    for item in items:
        marks = set(item.keywords)
        if "sampled" in marks and not {"long", "thorough"} & marks and isinstance(item, pytest.Function):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for several in cases.values():
        mark = several[0].get_closest_marker("sampled")
        if mark is not None and mark.args:
            kept = sampling.spread(len(several), mark.args[0])
        else:
            kept = sampling.covering([_values(item) for item in several])
        for number, item in enumerate(several):
            if number not in kept:
                item.add_marker("thorough")


def _values(item: pytest.Function) -> set[tuple[str, str]]:
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return {(name, repr(value)) for name, value in params.items()}
