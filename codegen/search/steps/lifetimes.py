"""When values are there, step by step: what a step or a block finds in memory beside its own."""

from collections.abc import Iterable, Sequence

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.program.interface import Edge


class Lifetimes:
    """When each buffer of values is born and read last, in steps; views share their argument's buffer."""

    def __init__(
        self,
        function: Function,
        prim_funcs: Sequence[PrimFunc],
        edge: Edge,
    ) -> None:
        """What the caller owns of `edge` needs nothing here."""
        self.roots = {param.name: param.name for param in function.params}
        self.sizes = {param.name: param.type.size_bytes for param in function.params}
        self.births = {param.name: -1 for param in function.params}
        self.deaths = {param.name: 0 for param in function.params}
        for step, prim in enumerate(prim_funcs):
            for arg in prim.let.call.args:
                if isinstance(arg, Var):
                    self.deaths[self.roots[arg.name]] = step
            self._bind(prim, step)
        kept = [result.name for result in function.results if isinstance(result, Var)]
        kept += edge.kept_inputs(function)
        for name in kept:
            self.deaths[self.roots[name]] = len(prim_funcs)
        for name in edge.unplanned(function):
            self.sizes[self.roots[name]] = 0
        self._count_crossing(len(prim_funcs))

    def _bind(self, prim: PrimFunc, step: int) -> None:
        name = prim.let.var.name
        source = prim.let.call.args[prim.view.argument] if prim.view else None
        if isinstance(source, Var):
            self.roots[name] = self.roots[source.name]
            self.deaths[self.roots[name]] = step
            return
        self.roots[name] = name
        self.sizes[name] = prim.let.var.type.size_bytes
        self.births[name] = self.deaths[name] = step

    def _count_crossing(self, steps: int) -> None:
        self._born: list[list[str]] = [[] for _ in range(steps)]
        """Per step the roots that it writes."""
        # First what is born and dies at each boundary between steps, then their running sum.
        self._crossing = [0] * (steps + 2)
        for root, size in self.sizes.items():
            birth = self.births[root]
            if birth >= 0:
                self._born[birth].append(root)
            self._crossing[birth + 1] += size
            self._crossing[self.deaths[root] + 1] -= size
        for boundary in range(1, len(self._crossing)):
            self._crossing[boundary] += self._crossing[boundary - 1]

    def size_bytes(self, var: Var) -> int:
        """Bytes of the buffer that `var` lies in."""
        return self.sizes[self.roots[var.name]]

    def crossing(self, boundary: int) -> int:
        """Bytes of what is born before step `boundary` and needed by it or behind it."""
        return self._crossing[boundary]

    def least_bytes(self, whole: Iterable[PrimFunc]) -> int:
        """What is there at some time however steps are grouped and run again: all inputs before the first
        step, what is kept behind the last, arguments or result of the steps `whole`, which no block runs."""
        found = [self._crossing[0], self._crossing[-2]]
        for prim in whole:
            if prim.view is None:
                roots = {self.roots[arg.name] for arg in prim.let.call.args if isinstance(arg, Var)}
                found += [sum(self.sizes[root] for root in roots), self.size_bytes(prim.let.var)]
        return max(found)

    def born_bytes(self, step: int, stop: int) -> int:
        """Bytes of what step `step` writes and steps from `stop` on need."""
        return sum(self.sizes[root] for root in self._born[step] if self.deaths[root] >= stop)

    def through(self, start: int, stop: int) -> int:
        """Bytes of what is born before steps [start, stop) and still needed behind them."""
        return self.crossing(stop) - sum(self.born_bytes(step, stop) for step in range(start, stop))

    def dying(self, args: Sequence[Var], start: int, stop: int) -> dict[str, int]:
        """Root -> bytes of arguments that are not needed behind steps [start, stop)."""
        roots = {self.roots[arg.name] for arg in args}
        return {
            root: self.sizes[root]
            for root in roots
            if self.births[root] < start and self.deaths[root] < stop and self.sizes[root]
        }
