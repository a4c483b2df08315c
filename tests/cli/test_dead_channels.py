"""Half of a public network computes constants, and that stood in the last line of the plan."""

import json
import re
from typing import Any

import pytest

from codegen.driver.report.sections import reduction_news, reduction_rows, removed_share
from codegen.ir import Module
from codegen.passes.reduce import Reduction, Removal, Work
from tests.cli.test_verbs import call
from tests.networks import model_path


def reduction(after: int, *removed: Removal) -> Reduction:
    """Of a network of 1,000 multiply-accumulates."""
    module = Module(functions={}, constants={}, metadata={})
    return Reduction(
        original=module,
        module=module,
        removed=removed,
        surviving={},
        before=Work(macs=1000, weight_bytes=100),
        after=Work(macs=after, weight_bytes=50),
    )


def removal(number: int, lost: int) -> Removal:
    return Removal(
        name=f"conv{number}",
        op="CONV_2D",
        where=f"op {number}",
        channels_before=64,
        channels_after=64 - lost,
        zero_weights=lost - 1,
        unread=1,
    )


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (1000, None),
        (720, None),
        (680, "About a third"),
        (500, "About half"),
        (340, "About two thirds"),
        (250, "About three quarters"),
        (10, "Nearly all"),
    ],
)
def test_a_share_is_said_in_words(left: int, words: str | None) -> None:
    news = reduction_news(reduction(left, removal(0, 2)))
    assert (news is None) == (words is None)
    if news is not None:
        assert news.startswith(f"{words} of this network computes constants: 2 channels of 1 step\n")
        assert f"{left:,} of 1,000 multiply-accumulates remain" in news
        assert all(len(line) <= 90 for line in news.splitlines())
    assert removed_share(reduction(left)) == pytest.approx(1 - left / 1000)


def test_the_layers_that_lost_most_are_rows_in_their_order() -> None:
    rows = list(reduction_rows(reduction(500, *(removal(number, 2 + number % 10) for number in range(10)))))
    assert [row[0] for row in rows] == [*(f"conv{number}" for number in range(2, 10)), "2 more steps"]
    assert rows[0] == ["conv2", "64", "60", "3 all weights zero, 1 never read"]
    assert rows[-1] == ["2 more steps", "128", "123", "report.json: reduction"]


def test_it_is_the_first_thing_that_a_plan_says(capsys: pytest.CaptureFixture[str]) -> None:
    model = str(model_path("mobilenet_v1_pruned"))
    assert call("plan", model) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r"(About|Nearly) .* of this network computes constants: [0-9,]+ channels of", lines[4])
    assert lines[9].split()[:2] == ["layer", "channels"]
    assert not any(line.startswith("reduced ") for line in lines)
    assert call("plan", model, "--json") == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)["reduction"]
    lost = sum(step["channels_before"] - step["channels_after"] for step in told["steps"])
    assert told["channels_removed"] == lost > 0
    assert told["share_removed"] == pytest.approx(1 - told["macs_after"] / told["macs_before"], abs=1e-4)
    assert call("plan", model, "--no-reduce") == 0
    assert "computes constants" not in capsys.readouterr().out
