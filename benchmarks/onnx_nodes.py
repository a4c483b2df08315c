"""The official node tests of the installed `onnx` package: which pass as C on the host, why others do not.

python benchmarks/onnx_nodes.py [OPERATOR ...]
python benchmarks/onnx_nodes.py --models [KIND ...]

Writes `benchmarks/results/onnx_nodes.csv`, a row a test, and `docs/onnx_nodes.md`, counts by operator and by
reason. Three minutes of processor time. With operators: only their tests and those that the table has as not
passing are run anew, other rows stay. With `--models`: the model tests of the package, which are those of
PyTorch's operators, converted from PyTorch, simple and light ones; `benchmarks/results/onnx_models.csv`. With
kinds only their tests are run anew, other rows stay.
"""

import argparse
import csv
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from tests.importers.onnx.official import NodeTest, Outcome, collected, on_board, onnx, outcome
from tests.importers.onnx.official_models import models

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "onnx_nodes.csv"
PAGE = ROOT / "docs" / "onnx_nodes.md"
MODELS = ROOT / "benchmarks" / "results" / "onnx_models.csv"
FIELDS: tuple[str, ...] = ("test", "operator", "static", "result", "constants", "reason")

_HEAD = """# ONNX: the official node tests

`python benchmarks/onnx_nodes.py` takes the node tests of the installed `onnx` package ({version}), imports
each, and runs what it imports as C on the host. Expected outputs are the tests' own. Integers have to be
equal in every bit, float32 within 1e-5 of the largest expected number and within what the test permits. The
whole table, a row a test, is `benchmarks/results/onnx_nodes.csv`.

In these tests whatever an operator reads is a graph input, a shape, a list of axes or weights too. Where
those have to be known they are made constants of the file, as exporters write them; the table names them. A
test counts as static if its inputs and outputs are tensors of fixed shapes, of float32, bool or integers of
8 to 64 bits.

Of {total:,} tests {static:,} are static. **{passes:,} of these pass** ({bound:,} with inputs as constants),
{wrong} are wrong, {refused:,} are refused by name. {others} more pass that have inputs or outputs of
float64, which have to be equal, or of float16, within 1e-3 of the largest: they are expected as computed in
eleven bits. Tests whose name ends in `expanded` are operators as ONNX's own functions;
those of several nodes count as `function`. Nodes that train (Adagrad,
Adam, Momentum: 7 tests) are refused: a board runs inference.

## By operator

| operator | pass | of |
|---|---|---|
"""


_MODELS_HEAD = """## Model tests of the package

`python benchmarks/onnx_nodes.py --models` does the same with whole models: PyTorch's operators, models
converted from PyTorch, simple and light ones, these with `--model-limit 600M --constants external`. What a
file leaves open is fixed as the test has it, as `--dim` does. A row a test, with the reason:
`benchmarks/results/onnx_models.csv`.

| tests | pass | of |
|---|---|---|"""


def main() -> None:
    """Run all, or those that are asked for; write the files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", action="store_true", help="model tests; NAME is a kind of them")
    parser.add_argument("names", nargs="*", metavar="NAME", help="operators of node tests")
    words = parser.parse_args()
    (_models if words.models else _nodes)(words.names)


def _models(kinds: Sequence[str]) -> None:
    kept = [row for row in _table(MODELS) if kinds and row["operator"] not in kinds]
    rows = [*kept, *(_row(each) for each in measured(models(*kinds)))]
    _write(MODELS, sorted(rows, key=lambda row: (row["operator"], row["test"])))
    PAGE.write_text(page(_table(RESULTS), _table(MODELS)))
    sys.stdout.write(f"{Counter((row['operator'], row['result']) for row in rows)}\n")


def _nodes(operators: Sequence[str]) -> None:
    table = _table(RESULTS) if operators else []
    kept = {
        row["test"]: row for row in table if row["result"] == "passes" and row["operator"] not in operators
    }
    outcomes = measured(test for test in collected() if test.name not in kept)
    rows = sorted([*kept.values(), *(_row(each) for each in outcomes)], key=lambda row: row["test"])
    _write(RESULTS, rows)
    PAGE.write_text(page(rows, _table(MODELS)))
    wrong = [row["test"] for row in rows if row["result"] == "wrong"]
    counts = Counter((row["static"], row["result"]) for row in rows)
    sys.stdout.write(f"{dict(counts)}\nwrong: {wrong}\n")


def _write(path: Path, rows: Iterable[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _table(path: Path) -> list[dict[str, str]]:
    """A table as it is."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def measured(tests: Iterable[NodeTest]) -> list[Outcome]:
    """What becomes of each test, as C where it is imported."""
    first = [outcome(test) for test in tests]
    imported = [each for each in first if each.module is not None]
    with tempfile.TemporaryDirectory() as folder:
        return [*(each for each in first if each.module is None), *on_board(imported, Path(folder))]


def _row(found: Outcome) -> dict[str, str]:
    result = "refused" if found.reason else "passes" if found.is_right else "wrong"
    return {
        "test": found.test.name,
        "operator": found.test.operator,
        "static": "yes" if found.test.is_static else "no",
        "result": result,
        "constants": " ".join(found.test.bound),
        "reason": found.reason,
    }


def page(rows: Sequence[dict[str, str]], model_rows: Sequence[dict[str, str]]) -> str:
    """The page of both tables."""
    static = [row for row in rows if row["static"] == "yes"]
    results = Counter(row["result"] for row in static)
    head = _HEAD.format(
        version=onnx.__version__,
        total=len(rows),
        static=len(static),
        passes=results["passes"],
        bound=sum(bool(row["constants"]) for row in static if row["result"] == "passes"),
        wrong=results["wrong"],
        refused=results["refused"],
        others=sum(row["static"] == "no" and row["result"] == "passes" for row in rows),
    )
    parts = (*_counts(static), "", "## Why others are refused", "", *_reasons(static), "")
    return head + "\n".join((*parts, _MODELS_HEAD, *_counts(model_rows), "", *_reasons(model_rows), ""))


def _counts(rows: Sequence[dict[str, str]]) -> list[str]:
    by_operator: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        by_operator[row["operator"]][row["result"]] += 1
    return [f"| {name} | {own['passes']} | {own.total()} |" for name, own in sorted(by_operator.items())]


def _reasons(rows: Sequence[dict[str, str]]) -> list[str]:
    """A table of why tests are refused, with how many there are of each."""
    reasons = Counter(_kind(row["reason"]) for row in rows if row["result"] == "refused")
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return ["| tests | reason |", "|---|---|", *(f"| {count} | {reason} |" for reason, count in ordered)]


def _kind(reason: str) -> str:
    """A reason without what differs from test to test, within a line of the page."""
    short = re.sub(r"\[[\d, -]*\]", "[...]", re.sub(r'"[^"]*"', "a value", reason.split("; ")[0]))
    short = re.sub(r" \(opset \d+\)| \(\d+ times\)", "", short).replace("|", "/")
    short = re.sub(r"have [\d,]{7,} bytes", "have ... bytes", short)
    return short if len(short) <= 100 else short[:99] + "…"


if __name__ == "__main__":
    main()
