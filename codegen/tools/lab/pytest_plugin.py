"""A fixture for users' own tests: `target` builds a model and runs it on a board or QEMU.

`pytest --codegen-board B [--codegen-port P]`. pytest loads this module in every run of every project that has
codegen installed, so nothing heavy is imported before a test asks for the fixture.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import numpy as np

    from codegen.api import Options
    from codegen.report_file import Report
    from codegen.tools.lab.inventory import LabBoard


def pytest_addoption(parser: pytest.Parser) -> None:
    """The flags."""
    group = parser.getgroup("codegen")
    group.addoption(
        "--codegen-board", metavar="BOARD", default="stm32", help="Board of the fixture `target`."
    )
    group.addoption("--codegen-port", metavar="PORT", help="Its port, if it is a real one; else QEMU runs.")
    group.addoption("--codegen-probe", metavar="SERIAL", help="Its debug probe, where several are connected.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """Outputs and report of one inference."""

    outputs: "tuple[np.ndarray, ...]"
    report: "Report"
    """report.json of the run, with types."""


class FixtureTarget:
    """A board, or QEMU in its place."""

    def __init__(self, place: "LabBoard", folder: Path) -> None:
        """`folder`: builds go there."""
        self._place, self._folder = place, folder
        self._count = 0

    def run(
        self,
        model: str | PathLike[str],
        inputs: "Sequence[np.ndarray] | None" = None,
        expected: "Sequence[np.ndarray] | None" = None,
        options: "Options | None" = None,
    ) -> Answer:
        """Build the model, put it on the board, run it. Without `inputs` they are made up, without `expected`
        NumPy evaluates.

        Raises CodegenError for everything that `codegen run` would refuse: outputs that differ (E701), peaks
        that are not as planned (E80x), a board that does not answer (E6xx).
        """
        from codegen.api import Options, existing
        from codegen.tools.lab.job import Bench

        chosen = replace(options or Options(), board=self._place.board)
        self._count += 1
        bench = Bench(self._folder / str(self._count), chosen)
        arrays, results = (None if sequence is None else tuple(sequence) for sequence in (inputs, expected))
        outputs, report = bench.answer(existing(Path(model)), self._place, arrays, results)
        return Answer(outputs=outputs, report=report)


class Fixtures:
    """The fixture, as a plugin that is registered after those of installed packages."""

    @pytest.fixture
    def target(self, request: pytest.FixtureRequest, tmp_path: Path) -> FixtureTarget:
        """The board of --codegen-board: `target.run(model, inputs)` gives outputs and report."""
        from codegen.api import check_can_run, load_board
        from codegen.tools.lab.inventory import LabBoard

        board: str = str(request.config.getoption("--codegen-board"))
        port: str | None = request.config.getoption("--codegen-port")
        check_can_run(load_board(board), port)
        probe = request.config.getoption("--codegen-probe")
        place = LabBoard(name="target", board=board, port=port, probe=probe)
        return FixtureTarget(place, tmp_path / "codegen")


def pytest_configure(config: pytest.Config) -> None:
    """Register the fixture. labgrid has one of the same name, and pytest takes the last one registered.
    labgrid's remains where an environment of its own is given."""
    if config.getoption("lg_env", None) is None and "LG_ENV" not in os.environ:
        config.pluginmanager.register(Fixtures(), "codegen fixtures")
