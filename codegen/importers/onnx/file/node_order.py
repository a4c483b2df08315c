"""Nodes in an order of execution: ONNX demands it of files, onnxruntime and onnx2c read others too."""

import heapq
from collections.abc import Iterable, Iterator, Sequence

from codegen.importers.onnx.file.records import FileBody, FileNode


def in_order(nodes: Sequence[FileNode]) -> tuple[FileNode, ...]:
    """The nodes of one graph, each behind those that compute what it reads; else in the order of the file.

    Nodes that wait for each other have no order; then all stay where they are, and the one that reads what
    has no value is told by name. A node keeps its `index`, which is its place in the file.
    """
    makers: dict[str, int] = {}
    for place, node in enumerate(nodes):
        for name in node.outputs:
            makers.setdefault(name, place)
    needs = [{makers[name] for name in names_read([node]) if name in makers} for node in nodes]
    if all(need < place for place, makers_of in enumerate(needs) for need in makers_of):
        return tuple(nodes)
    readers: list[list[int]] = [[] for _ in nodes]
    for place, makers_of in enumerate(needs):
        for need in makers_of:
            readers[need].append(place)
    waiting = [len(makers_of) for makers_of in needs]
    ready = [place for place, count in enumerate(waiting) if not count]
    ordered: list[FileNode] = []
    while ready:
        place = heapq.heappop(ready)
        ordered.append(nodes[place])
        for reader in readers[place]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    return tuple(ordered if len(ordered) == len(nodes) else nodes)


def names_read(nodes: Iterable[FileNode]) -> Iterator[str]:
    """Names that nodes read, those of branches too, each as often as it is read."""
    for node in nodes:
        yield from (name for name in node.inputs if name)
        for value in node.attributes.values():
            if isinstance(value, FileBody):
                yield from names_read(value.nodes)
                yield from value.outputs
