"""Static bound of the stack an entry function's call tree takes.

A function's frame comes from gcc (`-fstack-usage`) where gcc compiled it, and from its disassembly
where it is assembly (libgcc, the C library, our own kernels). bound(f) = frame(f) + the largest
bound of what it calls. Calls are read off the linked image. The test firmware's step hooks are part
of the tree and of the bound, because they are part of what a target measures; a product without
hooks needs at most this much.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codegen.errors import Messages
from codegen.toolchain.callgraph import FRAME_SYMBOL_PREFIX, ImageFunction
from codegen.toolchain.elf import Elf

_HELP = (
    "generated code has none of this: report it, with the model if you can; a kernel of codegen.toml must "
    "have none of it either"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StackFrame:
    """Frame of a function as gcc reports it: bytes, and whether that is all."""

    size_bytes: int
    bounded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class StackBound:
    """The deepest path of a call tree: functions with their frames in bytes, entry first."""

    path: tuple[tuple[str, int], ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all frames on the path."""
        return sum(size for _, size in self.path)


def frames(reports: Iterable[str]) -> dict[str, StackFrame]:
    """Frames by function name out of the texts of gcc's `.su` files.

    Functions of one name (static ones, clones such as `f.part.0`) share the largest frame.
    """
    by_name: dict[str, StackFrame] = {}
    for line in (line for report in reports for line in report.splitlines() if line.strip()):
        place, size, qualifier = line.split("\t")
        name = _base(place.rsplit(":", 1)[1])
        known = by_name.get(name, StackFrame(size_bytes=0, bounded=True))
        by_name[name] = StackFrame(
            size_bytes=max(known.size_bytes, int(size)), bounded=known.bounded and qualifier != "dynamic"
        )
    return by_name


def _base(name: str) -> str:
    """`leaf.constprop.0` -> `leaf`."""
    return name.split(".")[0]


def bound(
    entry: str,
    functions: Mapping[int, ImageFunction],
    compiled: Mapping[str, StackFrame],
    elf: Elf,
    *,
    pointed: Mapping[str, Sequence[str]] | None = None,
) -> StackBound:
    """The deepest path below function `entry`. `pointed`: function -> all that its calls through pointers
    can lead to.

    Raises CodegenError with all reasons why there is none: E504 recursion, E505 an indirect call or
    a frame whose size nothing states; ValueError if the image has no function `entry`.
    """
    root = next((code.address for code in functions.values() if code.name == entry), None)
    if root is None:
        raise ValueError(f"the image has no function {entry}")
    walk = _walk(functions, compiled, elf, pointed)
    deepest = walk.deepest(root, ())
    walk.messages.raise_if_any()
    return StackBound(path=deepest)


def tree_bounds(
    reached: Iterable[ImageFunction],
    functions: Mapping[int, ImageFunction],
    compiled: Mapping[str, StackFrame],
    elf: Elf,
) -> dict[str, int]:
    """The bound in bytes of the call tree of each function of `reached`, by name; of one name the larger.

    A function whose tree has no bound, and those that call it, are left out: `bound` tells why.
    """
    bounds: dict[str, int] = {}
    for code in reached:
        walk = _walk(functions, compiled, elf, None)
        deepest = sum(size for _, size in walk.deepest(code.address, ()))
        if not len(walk.messages):
            bounds[code.name] = max(bounds.get(code.name, 0), deepest)
    return bounds


def _walk(
    functions: Mapping[int, ImageFunction],
    compiled: Mapping[str, StackFrame],
    elf: Elf,
    pointed: Mapping[str, Sequence[str]] | None,
) -> "_DepthWalk":
    declared = {
        symbol.name.removeprefix(FRAME_SYMBOL_PREFIX): symbol.address
        for symbol in elf.symbols
        if symbol.section is None and symbol.name.startswith(FRAME_SYMBOL_PREFIX)
    }
    addresses = {code.name: code.address for code in functions.values()}
    known = {
        name: tuple(addresses[callee] for callee in callees) for name, callees in (pointed or {}).items()
    }
    return _DepthWalk(functions, compiled, declared, known)


class _DepthWalk:
    """One depth-first walk; keeps the deepest path below each function already seen."""

    def __init__(
        self,
        functions: Mapping[int, ImageFunction],
        compiled: Mapping[str, StackFrame],
        declared: Mapping[str, int],
        pointed: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.messages = Messages()
        self._functions = functions
        self._compiled = compiled
        self._declared = declared
        self._pointed = pointed
        self._known: dict[int, tuple[tuple[str, int], ...]] = {}

    def deepest(self, address: int, above: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
        """Deepest path below the function at `address`, reached through the functions `above`."""
        if address in above:
            self._complain("E504", (*above, address), "recursion, so there is no bound on the stack")
            return ()
        if address not in self._known:
            code = self._functions[address]
            trail = (*above, address)
            calls = {*code.calls, *self._pointed.get(code.name, ())}
            below = [self.deepest(call, trail) for call in sorted(calls) if call in self._functions]
            if code.indirect and code.name not in self._pointed:
                self._complain("E505", trail, "a call through a pointer, so there is no bound on the stack")
            longest = max(below, key=lambda path: sum(size for _, size in path), default=())
            self._known[address] = ((code.name, self._frame_bytes(code, trail)), *longest)
        return self._known[address]

    def _frame_bytes(self, code: ImageFunction, trail: tuple[int, ...]) -> int:
        name = _base(code.name)
        frame = self._compiled.get(name)
        if frame is not None:
            if not frame.bounded:
                self._complain("E505", trail, "a frame of variable size, so there is no bound on the stack")
            return frame.size_bytes
        declared = self._declared.get(name)
        if code.pushed_bytes is None and declared is None:
            advice = f"in assembly, declare the frame with .set {FRAME_SYMBOL_PREFIX}{name}, BYTES"
            self._complain("E505", trail, "a frame whose size its instructions do not tell", advice)
        return max(code.pushed_bytes or 0, declared or 0)

    def _complain(self, code: str, trail: tuple[int, ...], text: str, advice: str | None = None) -> None:
        names = [self._functions[address].name for address in trail]
        self.messages.add(
            code,
            f"{' -> '.join(names)}: {text}",
            where=f"function {names[-1]}",
            help=advice or _HELP,
        )
