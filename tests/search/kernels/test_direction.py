"""The plan's sides become directions: back to front above the argument, front to back elsewhere."""

from dataclasses import replace

import pytest

from codegen.kernels.call import Reverse
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from codegen.program.problem import Placement
from codegen.search.kernels.direction import directed
from tests.plan.build import live, placed, prim, var

X, Y = var("x", 100), var("y", 60)


def step(below: int | None = 10, above: int | None = 20) -> PrimFunc:
    sharing = (Sharing(argument=0, below=below, above=above),)
    return replace(
        prim(Y, X, sharing=sharing),
        reverse=Reverse(symbol="backwards", sources=("a.c", "b.c")),
        sources=("a.c",),
    )


def chosen(one: PrimFunc, x: int, y: int) -> PrimFunc:
    [found] = directed([one], live([X], [one], [Y]).slices, placed(x=x, y=y))
    return found


@pytest.mark.parametrize(
    ("y", "backwards"), [(0, False), (90, False), (120, True), (130, True), (200, False)]
)
def test_the_side_decides(y: int, backwards: bool) -> None:
    """x lies at [100, 200): y at 0 and 200 lies apart, at 90 it overlaps from below, at 120 from above."""
    found = chosen(step(), 100, y)
    assert found.reverse is None
    if backwards:
        assert (found.symbol, found.sources, found.kernel) == ("backwards", ("a.c", "b.c"), "probe_reverse")
        assert found.sharing == (Sharing(argument=0, above=20),)
    else:
        assert (found.symbol, found.sources) == ("probe", ("a.c",))
        assert found.sharing == (Sharing(argument=0, below=10),)


def test_a_kernel_that_only_gains_backwards() -> None:
    assert chosen(step(below=None), 100, 130).symbol == "backwards"
    apart = chosen(step(below=None), 100, 0)
    assert (apart.symbol, apart.sharing) == ("probe", ())


def test_other_pools_lie_apart() -> None:
    one = step()
    plan = placed(x=100, y=130)
    elsewhere = {**plan.placements, "y": Placement(pool="ccm", offset=130)}
    [found] = directed([one], live([X], [one], [Y]).slices, replace(plan, placements=elsewhere))
    assert found.symbol == "probe"


def test_one_direction_must_suit_all_arguments() -> None:
    two = replace(
        step(),
        let=prim(Y, X, X).let,
        argument_stops=(),
        reads=(),
        sharing=(Sharing(argument=0), Sharing(argument=1)),
    )
    with pytest.raises(ValueError, match="one rule, for one argument"):
        directed([two], live([X], [step()], [Y]).slices, placed(x=0, y=100))
