"""Problems as files: round trips, malformed files."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from codegen.errors import CodegenError
from codegen.plan.place.problem_files import from_csv, from_json, read_problem, to_csv, to_json
from codegen.problem.problem import BufferKind, Conflict, Limits, Problem
from tests.plan.build import POOL, buffer, problem
from tests.plan.place.test_planners import problems


@given(problems(overlaps=True))
def test_json_round_trip(given_problem: Problem) -> None:
    assert from_json(to_json(given_problem)) == given_problem


def test_json_keeps_everything() -> None:
    found = problem(buffer("a", 4, 0, 2, 8), replace(buffer("b", 6, 1, 3), kind=BufferKind.WORKSPACE))
    found = replace(
        found,
        pools=(replace(POOL, section=".bss.cg.sram", read_cost=2.5, targets=("cortex-m4",)),),
        limits=Limits(seed=3, effort=7, deadline_seconds=1.5),
    )
    assert from_json(to_json(found)) == found
    assert from_json(to_json(found), limits=Limits(effort=9)).limits == Limits(effort=9)


def test_csv_round_trip() -> None:
    for found in (
        problem(buffer("a", 4, 0, 2), buffer("b", 6, 1, 3), buffer("c,d", 0, 2, 2)),
        problem(buffer("a", 4, 0, 2, 16), buffer("b", 6, 1, 3)),
    ):
        assert from_csv(to_csv(found), [POOL], limits=found.limits) == found


def test_csv_leaves_permitted_overlaps_out() -> None:
    found = problem(buffer("a", 4, 0, 2), buffer("b", 6, 1, 3))
    loose = replace(found, conflicts=(Conflict(first="a", second="b", first_below=0, second_below=0),))
    assert from_csv(to_csv(loose), [POOL]).conflicts == found.conflicts


def test_csv_cannot_express_every_conflict() -> None:
    found = problem(buffer("a", 4, 0, 1), buffer("b", 6, 1, 3))
    odd = replace(found, conflicts=(Conflict(first="a", second="b", first_below=4, second_below=6),))
    with pytest.raises(CodegenError) as caught:
        to_csv(odd)
    assert str(caught.value) == (
        "error[E214] buffers a and b: they conflict though no live interval says so, "
        "which CSV cannot express\n"
        "help: write the problem as JSON"
    )


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["p.csv line 1: the columns are missing"]),
        ("id,lower,size\na,0,1\n", ["p.csv line 1: the columns are id,lower,size"]),
        ("id,lower,upper,size,size\n", ["p.csv line 1: the columns are id,lower,upper,size,size"]),
        ("id,lower,upper,size,gaps\n", ["p.csv line 1: the columns are id,lower,upper,size,gaps"]),
        (
            "id,lower,upper,size\na,0,1,x\nb,0,1\n\na,0,1,4\na,1,2,4\nc,3,2,4\nd,0,1,-4\ne,0,1,2,3\nf,0,1_0,1.5\n",
            [
                "p.csv line 2: size 'x' is not a whole number of at most 19 characters",
                "p.csv line 3: has 1 cells too few",
                "p.csv line 6: id a is that of line 5 too",
                "p.csv line 7: buffer c: size 4, interval [3, 2)",
                "p.csv line 8: buffer d: size -4, interval [0, 1)",
                "p.csv line 9: has 1 cells too many",
                "p.csv line 10: upper '1_0' is not a whole number of at most 19 characters",
                "p.csv line 10: size '1.5' is not a whole number of at most 19 characters",
            ],
        ),
        (
            "id,lower,upper,size,alignment\na,0,1,4,3\nb,0,1,4,-8\nc,0,1," + "9" * 50 + ",1\n",
            [
                "p.csv line 2: buffer a: alignment 3 is not a power of two",
                "p.csv line 3: buffer b: alignment -8 is not a power of two",
                f"p.csv line 4: size '{'9' * 40}' is not a whole number of at most 19 characters",
            ],
        ),
    ],
)
def test_malformed_csv(text: str, messages: list[str]) -> None:
    with pytest.raises(CodegenError) as caught:
        from_csv(text, name="p.csv")
    assert [str(m).split("\n")[0] for m in caught.value.messages] == [f"error[E212] {m}" for m in messages]
    assert caught.value.exit_code == 2


CUT = '"start": 1'
GOOD = to_json(problem(buffer("a", 4, 0, 2), buffer("b", 6, 1, 3)))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "p.json line 1: "),
        (GOOD[: len(GOOD) // 2], f"p.json line {GOOD[: len(GOOD) // 2].count(chr(10)) + 1}: "),
        (GOOD.replace(CUT, '"start": }'), f"p.json line {GOOD[: GOOD.index(CUT)].count(chr(10)) + 1}: "),
        (
            GOOD.replace('"start": 1', '"start": "1"'),
            "p.json: Expected `int`, got `str` - at `$.buffers[1].start`",
        ),
        (GOOD.replace('"schema": 1', '"schema": 2'), "p.json: schema is 2, this version reads 1"),
        (
            GOOD.replace('"alignment": 1,', '"alignmnt": 1,'),
            "p.json: unknown fields: buffers[0].alignmnt, buffers[1].alignmnt",
        ),
        (GOOD.replace('"seed"', '"sed"'), "p.json: unknown fields: limits.sed"),
        (GOOD.replace('"buffers"', '"buffer"'), "p.json: Object contains unknown field `buffer`"),
        (
            GOOD.replace('"second": "b"', '"second": "z"'),
            "p.json: conflict a, z: unknown buffer or given twice",
        ),
        (GOOD.replace('"size_bytes": 4', '"size_bytes": -4'), "p.json: buffer a: size -4, interval [0, 2)"),
        (
            GOOD[: GOOD.index('"conflicts"')] + '"conflicts": [],\n' + GOOD[GOOD.index(' "pools"') :],
            "p.json: alive together, yet not in conflict: a and b",
        ),
        ("[]", "p.json: Expected `object`, got `array`"),
        ("[" * 100_000, "p.json line 1: "),
    ],
)
def test_malformed_json(text: str, start: str) -> None:
    with pytest.raises(CodegenError) as caught:
        from_json(text, "p.json")
    assert str(caught.value).startswith(f"error[E212] {start}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=r"E212.*none.csv: cannot be read: No such file"):
        read_problem(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"id,\xff\n")
    with pytest.raises(CodegenError, match=r"E212.*bytes.csv: it is not text: byte 3 is not UTF-8"):
        read_problem(tmp_path / "bytes.csv")
    (tmp_path / "wide.csv").write_text("id,lower,upper,size\n" + "a" * 200_000)
    with pytest.raises(CodegenError, match=r"E212.*wide.csv line \d: field larger than field limit"):
        read_problem(tmp_path / "wide.csv")
    (tmp_path / "good.JSON").write_text(GOOD)
    assert len(read_problem(tmp_path / "good.JSON").buffers) == 2
