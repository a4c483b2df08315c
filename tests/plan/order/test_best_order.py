"""The order search against all orders of small graphs, and on graphs whose best order is known."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.errors import CodegenError
from codegen.plan.order import best_order as best_order_module
from codegen.plan.order.best_order import best_order
from codegen.plan.order.order_graph import (
    OrderGraph,
    OrderLimits,
    OrderNode,
    OrderValue,
    Phase,
    SharedBytes,
    StepMasks,
)
from tests.plan.order.order_files import order_peak, read_order_graph
from tests.sampling import examples


def simulated(graph: OrderGraph, order: Sequence[int]) -> int:
    """Peak of `order`, phase by phase, from the definition of being alive."""
    position = {step: i for i, step in enumerate(order)}
    born = [-1 if value.given else len(order) for value in graph.values]
    last = [-1] * len(graph.values)
    for step, node in enumerate(graph.nodes):
        for value in node.writes:
            born[value] = position[step]
        for value in node.reads:
            last[value] = max(last[value], position[step])
    peak = sum(value.size_bytes for value in graph.values if value.given)
    for now, step in enumerate(order):
        node = graph.nodes[step]
        assert all(born[value] < now for value in node.reads)
        assert all(position[other] < now for other in node.after)
        for index, phase in enumerate(node.phases):
            alive = phase.workspace_bytes
            written = sum(graph.values[value].size_bytes for value in node.writes)
            for number, value in enumerate(graph.values):
                needed = value.kept or last[number] > now
                needed |= last[number] == now and number not in phase.released
                unread_input = value.given and last[number] == -1 and (now, index) == (0, 0)
                if born[number] < now and (needed or unread_input):
                    alive += value.size_bytes
            common = sum(
                share.common_bytes
                for share in node.shares
                if last[share.value] == now
                and not graph.values[share.value].kept
                and share.value not in phase.released
            )
            peak = max(peak, alive + (written - min(written, common) if phase.writing else 0))
    return peak


def all_orders(graph: OrderGraph) -> Iterator[list[int]]:
    writer = {value: step for step, node in enumerate(graph.nodes) for value in node.writes}
    before = [{*n.after, *(writer[v] for v in n.reads if v in writer)} for n in graph.nodes]

    def extend(order: list[int]) -> Iterator[list[int]]:
        if len(order) == len(before):
            yield order
        for step in range(len(before)):
            if step not in order and before[step].issubset(order):
                yield from extend([*order, step])

    return extend([])


@st.composite
def graphs(draw: st.DrawFn, *, plain: bool = False) -> OrderGraph:
    """Up to 7 steps; unless `plain` with phases, workspaces, sharing, views, results nobody reads."""
    size = st.integers(0, 12)
    values = [
        OrderValue(size_bytes=draw(size), given=True, kept=draw(st.integers(0, 4)) == 0)
        for _ in range(draw(st.integers(1, 2)))
    ]
    nodes: list[OrderNode] = []
    for step in range(draw(st.integers(1, 7))):
        reads = tuple(draw(st.lists(st.integers(0, len(values) - 1), max_size=3)))
        if plain:
            nodes.append(OrderNode(reads=reads, writes=(len(values),)))
        else:
            nodes.append(draw(rich_nodes(reads, step, values)))
        if nodes[-1].writes:
            values.append(OrderValue(size_bytes=draw(size), kept=draw(st.integers(0, 4)) == 0))
    return OrderGraph(values=tuple(values), nodes=tuple(nodes))


@st.composite
def rich_nodes(draw: st.DrawFn, reads: tuple[int, ...], step: int, values: Sequence[OrderValue]) -> OrderNode:
    distinct = sorted(set(reads))
    phases = [
        Phase(
            workspace_bytes=draw(st.integers(0, 6)),
            released=tuple(value for value in distinct if draw(st.booleans()) and number > 0),
            writing=number > 0 or draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 2)))
    ]
    shares = [
        SharedBytes(value=value, common_bytes=draw(st.integers(0, values[value].size_bytes)))
        for value in distinct
        if draw(st.booleans())
    ]
    return OrderNode(
        reads=reads,
        writes=(len(values),) if draw(st.integers(0, 5)) else (),
        after=tuple(other for other in range(step) if draw(st.integers(0, 5)) == 0),
        phases=tuple(phases),
        shares=tuple(shares),
    )


@settings(max_examples=examples(300), deadline=None)
@given(st.one_of(graphs(), graphs(plain=True)))
def test_the_best_order_of_all(graph: OrderGraph) -> None:
    found = best_order(graph)
    best = min(simulated(graph, order) for order in all_orders(graph))
    assert (found.peak_bytes, found.lower_bound_bytes, found.proved) == (best, best, True)
    assert simulated(graph, found.order) == best
    assert found.file_peak_bytes == simulated(graph, range(len(graph.nodes)))
    assert found.reordered == (best < found.file_peak_bytes)


@settings(max_examples=examples(150), deadline=None)
@given(graphs(), st.integers(0, 12), st.integers(0, 2))
def test_spent_limits_claim_nothing_wrong(graph: OrderGraph, states: int, width: int) -> None:
    found = best_order(graph, OrderLimits(states=states, beam_width=width))
    best = min(simulated(graph, order) for order in all_orders(graph))
    assert found.lower_bound_bytes <= best <= found.peak_bytes <= found.file_peak_bytes
    assert simulated(graph, found.order) == found.peak_bytes
    assert order_peak(graph, found.order) == found.peak_bytes


@settings(max_examples=examples(60), deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_numbering_of_values_does_not_matter(graph: OrderGraph, random: Random) -> None:
    new = list(range(len(graph.values)))
    random.shuffle(new)
    values = [graph.values[old] for old in sorted(range(len(new)), key=lambda old: new[old])]
    nodes = [
        replace(
            node,
            reads=tuple(new[value] for value in node.reads),
            writes=tuple(new[value] for value in node.writes),
            phases=tuple(replace(p, released=tuple(new[v] for v in p.released)) for p in node.phases),
            shares=tuple(replace(share, value=new[share.value]) for share in node.shares),
        )
        for node in graph.nodes
    ]
    assert best_order(OrderGraph(values=tuple(values), nodes=tuple(nodes))) == best_order(graph)


@settings(max_examples=examples(200), deadline=None)
@given(graphs())
def test_the_graph_is_cut_at_each_step_that_separates_all_others(graph: OrderGraph) -> None:
    """A chain of 4,000 steps had all ancestors and descendants gathered: 16 million bits, to find cuts."""
    steps = StepMasks(graph)
    ancestors = [{step} for step in range(steps.count)]
    for step, before in enumerate(steps.predecessors):
        ancestors[step].update(*(ancestors[other] for other in before))
    numbers = range(steps.count)
    separating = [
        step
        for step in numbers
        if all(step in ancestors[other] or other in ancestors[step] for other in numbers)
    ]
    assert best_order_module._cuts(steps) == separating  # pyright: ignore[reportPrivateUsage]


def test_moves_are_counted_as_states_are() -> None:
    """Linear attention over 8 words was planned in 3 s: of many heads each state has many ways to go on, so
    500,000 states took three times as long as those of other networks."""
    graph = two_branches(100, 1)
    assert best_order(graph, OrderLimits(beam_width=0)).states > 0
    none = best_order(graph, OrderLimits(moves=0, beam_width=0))
    assert (none.states, none.proved) == (0, False)
    assert none.peak_bytes == none.file_peak_bytes


def two_branches(big: int, small: int) -> OrderGraph:
    """x -> big -> small, twice, and a step that joins the two; the file runs both big ones first."""
    sizes = (10, big, big, small, small, 1)
    return OrderGraph(
        values=tuple(OrderValue(size_bytes=s, given=i == 0, kept=i == 5) for i, s in enumerate(sizes)),
        nodes=(
            OrderNode(reads=(0,), writes=(1,)),
            OrderNode(reads=(0,), writes=(2,)),
            OrderNode(reads=(1,), writes=(3,)),
            OrderNode(reads=(2,), writes=(4,)),
            OrderNode(reads=(3, 4), writes=(5,)),
        ),
    )


def test_a_branch_is_finished_before_the_next_is_begun() -> None:
    # File: x and both big ones, 10 + 100 + 100. Best: x, big and small, 10 + 100 + 1.
    found = best_order(two_branches(100, 1))
    assert (found.file_peak_bytes, found.peak_bytes, found.proved) == (210, 111, True)
    assert found.order in {(0, 2, 1, 3, 4), (1, 3, 0, 2, 4)}


def test_the_file_order_stays_where_it_is_as_good() -> None:
    # With growing branches the peak is at the join or in the last branch whatever the order.
    found = best_order(two_branches(1, 100))
    assert (found.peak_bytes, found.proved, found.reordered) == (201, True, False)


def test_no_steps() -> None:
    found = best_order(OrderGraph(values=(OrderValue(size_bytes=7, given=True),), nodes=()))
    assert (found.order, found.peak_bytes, found.proved) == ((), 7, True)


def test_no_states_leave_the_file_order() -> None:
    found = best_order(two_branches(100, 1), OrderLimits(states=0, beam_width=0))
    assert (found.peak_bytes, found.proved, found.states, found.reordered) == (210, False, 0, False)
    # Step `small` needs its argument and result, the joining step 1 + 1 + 1, the first 10 + 100.
    assert found.lower_bound_bytes == 110


@pytest.mark.parametrize("order", [(1, 0), (0,), (0, 0)])
def test_invalid_orders_are_refused(order: tuple[int, ...]) -> None:
    values = (OrderValue(size_bytes=1, given=True), OrderValue(size_bytes=1), OrderValue(size_bytes=1))
    nodes = (OrderNode(reads=(0,), writes=(1,)), OrderNode(reads=(1,), writes=(2,)))
    with pytest.raises(ValueError, match=r"order|early"):
        order_peak(OrderGraph(values=values, nodes=nodes), order)


ONE = (OrderValue(size_bytes=1, given=True),)


@pytest.mark.parametrize(
    ("values", "nodes", "text"),
    [
        (ONE, (OrderNode(reads=(1,)),), "before a value"),
        (ONE, (OrderNode(after=(0,)),), "before a value"),
        (ONE, (OrderNode(writes=(0,)),), "exists already"),
        (ONE, (OrderNode(writes=(1,)),), "does not exist"),
        ((OrderValue(size_bytes=1),), (), "neither given"),
        ((OrderValue(size_bytes=-1, given=True),), (), "negative size"),
        (ONE, (OrderNode(phases=()),), "no phase"),
        (ONE, (OrderNode(phases=(Phase(workspace_bytes=-1),)),), "negative size"),
        (ONE, (OrderNode(phases=(Phase(released=(0,)),)),), "releases"),
        (ONE, (OrderNode(shares=(SharedBytes(value=0, common_bytes=1),)),), "shares bytes"),
        (ONE, (OrderNode(reads=(0,), shares=(SharedBytes(value=0, common_bytes=-1),)),), "shares bytes"),
    ],
)
def test_graphs_that_are_none(
    values: tuple[OrderValue, ...], nodes: tuple[OrderNode, ...], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        OrderGraph(values=values, nodes=nodes)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "truncated"),
        ('{"tensors": {}, "ops": [], "inputs": []}', "outputs"),
        ('{"tensors": {"0": 1}, "ops": [{"inp": [7], "out": []}], "inputs": [0], "outputs": []}', "tensor 7"),
        ('{"tensors": {"0": 1}, "ops": [], "inputs": [], "outputs": []}', "neither given"),
    ],
)
def test_files_that_hold_no_graph(text: str, found: str) -> None:
    with pytest.raises(CodegenError, match=found) as error:
        read_order_graph(text, "x.dag.json")
    assert "x.dag.json" in str(error.value)
    assert "E212" in str(error.value)
