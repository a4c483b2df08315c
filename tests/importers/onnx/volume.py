"""`python -m tests.importers.onnx.volume`: ten million integers of quantised networks against onnxruntime.

Each network is asked of onnxruntime in its ways: as DequantizeLinear, operator, QuantizeLinear with all
optimisations off; the same with all of them on; and as one QLinear node, where there is one. Ours have to be
those of one of the ways. Networks of 16 bits have no QLinear node: there the last way sums in float64;
`--sixteen` does these alone and leaves the rows of the others as they are. The command prints and records, a
line a kind: networks, elements, elements on which onnxruntime's ways disagree, ours that are not those of the
first way, and ours that no way gives.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from codegen.importers.onnx import import_onnx
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from tests.importers.onnx import drawn, drawn_reals, drawn_sixteen
from tests.importers.onnx.drawn import INPUTS, Network
from tests.importers.onnx.record import ask

RECORDED = Path(__file__).parents[3] / "benchmarks" / "results" / "onnx_integers.csv"
SIXTEEN = (drawn_sixteen.network, 88)
SHARES = ((drawn.network, 308), (drawn_reals.network, 96), SIXTEEN)
"""How networks are drawn, and how many of each."""
Share = tuple[Callable[..., Network], int]
ELEMENTS = 10_100_000
ELEMENTS_OF_SIXTEEN = 1_100_000
_AT_ONCE = 22


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What was found for the networks of a kind."""

    kind: str
    networks: int
    elements: int
    ways_disagree: int
    """Elements on which onnxruntime's ways do not agree."""
    not_the_first: int
    """Ours that are not those of the unfused form."""
    unexplained: int
    """Ours that no way gives."""
    left_in_float: int
    """Networks with a layer in float32."""


def compared(nets: Sequence[Network]) -> list[Row]:
    """A row for each network."""
    ways = [
        ask([(net.qdq, net) for net in nets]),
        ask([(net.qdq, net) for net in nets], optimised=True),
        ask([(net.integer or net.qdq, net) for net in nets]),
    ]
    return [_row(net, [way[number] for way in ways]) for number, net in enumerate(nets)]


def _row(net: Network, ways: Sequence[list[list[np.ndarray]]]) -> Row:
    module = verify(import_onnx(net.qdq, "m.onnx"))
    names = [param.origin for param in module.main.params]
    elements = disagree = other = unexplained = 0
    for index, given in enumerate(net.inputs):
        [ours] = evaluate(module, module.main, [given[name] for name in names])
        theirs = [way[index][0] for way in ways]
        assert all(each.shape == ours.shape and each.dtype == ours.dtype for each in theirs), net.kind
        elements += ours.size
        disagree += int(np.count_nonzero(np.any([each != theirs[0] for each in theirs], axis=0)))
        other += int(np.count_nonzero(ours != theirs[0]))
        unexplained += int(np.count_nonzero(np.all([ours != each for each in theirs], axis=0)))
    return Row(
        kind=net.kind,
        networks=1,
        elements=elements,
        ways_disagree=disagree,
        not_the_first=other,
        unexplained=unexplained,
        left_in_float=int("left_in_float" in module.metadata),
    )


def by_kind(rows: Iterable[Row]) -> list[Row]:
    """Rows of one kind as one, in alphabetical order, and the sum of all."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        for kind in (row.kind, "all"):
            found.setdefault(kind, []).append(row)
    numbers = [field.name for field in fields(Row) if field.name != "kind"]
    return [
        Row(kind=kind, **{name: sum(getattr(row, name) for row in found[kind]) for name in numbers})
        for kind in (*sorted(set(found) - {"all"}), "all")
    ]


def _drawn(elements: int, shares: Sequence[Share]) -> Iterable[Network]:
    """Networks with as many elements of results each as together make about `elements`."""
    each = elements / sum(count for _, count in shares) / INPUTS
    for network, count in shares:
        for seed in range(count):
            small = network(seed)
            [one] = ask_shapes(small)
            yield network(seed, max(1, round(each / one)))


def ask_shapes(net: Network) -> list[int]:
    """Elements of each output."""
    module = import_onnx(net.qdq, "m.onnx")
    return [result.type.elements for result in module.main.results]


def _recorded() -> list[Row]:
    """The rows of the table that are not of 16 bits, without the sum."""
    with RECORDED.open(newline="") as file:
        found = list(csv.DictReader(file))
    numbers = [field.name for field in fields(Row) if field.name != "kind"]
    return [
        Row(kind=each["kind"], **{name: int(each[name]) for name in numbers})
        for each in found
        if each["kind"] != "all" and not each["kind"].endswith(drawn_sixteen.SUFFIX)
    ]


def main() -> None:
    """Compare, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--elements", type=int, help="of results, about (10,100,000; of 16 bits 1,100,000)")
    parser.add_argument("--sixteen", action="store_true", help="only networks of 16 bits")
    asked = parser.parse_args()
    shares, most = ((SIXTEEN,), ELEMENTS_OF_SIXTEEN) if asked.sixteen else (SHARES, ELEMENTS)
    rows: list[Row] = _recorded() if asked.sixteen else []
    waiting: list[Network] = []
    for net in _drawn(asked.elements or most, shares):
        waiting.append(net)
        if len(waiting) == _AT_ONCE:
            rows += compared(waiting)
            waiting.clear()
            sys.stderr.write(f"{len(rows)} networks\n")
    rows += compared(waiting) if waiting else []
    found = by_kind(rows)
    names = [field.name for field in fields(Row)]
    lines = [names, *([str(value) for value in asdict(row).values()] for row in found)]
    sys.stdout.write("".join(",".join(line) + "\n" for line in lines))
    if (asked.elements or most) >= most:
        with RECORDED.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
    sys.exit(1 if found[-1].unexplained else 0)


if __name__ == "__main__":
    main()
