"""Kernel selection: every step gets the cheapest kernel that runs it, or the one of fewest bytes, or all.

Kernels that steps share: code is paid once, so a kernel that few steps want may not be worth its bytes.
"""

from collections.abc import Iterator, Sequence
from operator import itemgetter

from codegen.errors import Messages
from codegen.ir import Function, Let
from codegen.kernels.base.code_bytes import code_bytes
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.base.registry import Kernel
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import Binder, step_key
from codegen.search.kernels.costs import (
    FLASH_WORTH,
    cheapest,
    code_limit,
    cost_in_sum,
    worth_of_flash,
)
from codegen.search.kernels.fewest_bytes import needed_bytes

Candidates = Sequence[Sequence[PrimFunc]]
"""Per step the PrimFuncs of all kernels that can run it."""


def with_shared_code(
    candidates: Candidates, flash_worth: float, code_limit_bytes: int | None = None
) -> tuple[PrimFunc, ...]:
    """Per step one of its candidates: a low sum of all steps' `cost` and `flash_worth` a byte of code.

    Begins with every step's cheapest kernel. Then, as long as that lowers the sum, moves of two kinds are
    made: a kernel goes, and its steps take the cheapest of the others, or a kernel takes over every step that
    it can run. The `_WIDTH` lowest sums are followed. Where the code exceeds `code_limit_bytes`, a byte of it
    counts twice as much, and so on, until it fits or the steps would run `SLOWER_PERCENT` longer: then the
    least code so far is taken.
    Deterministic; the best sum of all is not promised.
    """
    choice = _SharedCode(candidates, flash_worth)
    kinds = choice.at_price(flash_worth)
    if code_limit_bytes is None or not flash_worth:
        return choice.steps(kinds)
    longest = _instructions(choice.steps(kinds)) * (100 + SLOWER_PERCENT) / 100
    code_worth = flash_worth
    while _code_bytes(kinds) > code_limit_bytes and code_worth <= flash_worth * 2**_DOUBLINGS:
        code_worth *= 2
        other = choice.at_price(code_worth)
        if other == kinds:
            continue
        if _instructions(choice.steps(other)) > longest:
            break
        kinds = min(kinds, other, key=_code_bytes)
    return choice.steps(kinds)


SLOWER_PERCENT = 25
"""How much longer all steps may run to fit a limit of code bytes. Half of what lean kernels may add
(`fewest_bytes.SLOWER_PERCENT`): `size` as a whole stays within that."""
_DOUBLINGS = 8


_WIDTH = 3
"""How many of the lowest sums are followed at a time: the best first move is not always the first of the
best. kws on Helium took another core's kernel to save code that its 1x1 layers would have shared."""
_Priced = list[tuple[float, int, PrimFunc]]
"""Candidates of a kind of step: price in the sum, place among the step's candidates, the PrimFunc."""
_first = itemgetter(0)


class _SharedCode:
    """The choice of kernels that share code.

    Steps whose candidates cost the same and call the same functions are one kind: a move is weighed once for
    each kind, not for each step.
    """

    def __init__(self, candidates: Candidates, flash_worth: float) -> None:
        self._candidates = candidates
        self._flash_worth = flash_worth
        kinds: dict[tuple[object, ...], int] = {}
        self._kinds: list[_Priced] = []
        self._kind_of: list[int] = []
        for prims in candidates:
            prices = _prices(prims, flash_worth)
            words = (
                (price, prim.kernel, prim.symbols, prim.sources)
                for price, prim in zip(prices, prims, strict=True)
            )
            kind = kinds.setdefault(tuple(words), len(kinds))
            if kind == len(self._kinds):
                self._kinds.append(list(zip(prices, range(len(prims)), prims, strict=True)))
            self._kind_of.append(kind)

    def at_price(self, code_worth: float) -> _Priced:
        """Per kind of step one of its candidates, where a byte of code counts `code_worth`."""
        best = (self._total(self._kinds, code_worth), self._kinds)
        beam = [best]
        while self._flash_worth and beam:
            lower: dict[float, list[_Priced]] = {}
            for total, left in beam:
                for move in _moves(left):
                    if all(move) and (lower_total := self._total(move, code_worth)) < total:
                        lower.setdefault(lower_total, move)
            beam = sorted(lower.items(), key=_first)[:_WIDTH]
            best = min([best, *beam], key=_first)
        return [_cheapest_of(kind) for kind in best[1]]

    def steps(self, kinds: _Priced) -> tuple[PrimFunc, ...]:
        """Per step the candidate that its kind takes."""
        steps = zip(self._candidates, self._kind_of, strict=True)
        return tuple(prims[kinds[kind][1]] for prims, kind in steps)

    def _total(self, move: Sequence[_Priced], code_worth: float) -> float:
        cheapest_kinds = [_cheapest_of(kind) for kind in move]
        prices = [price for price, _, _ in cheapest_kinds]
        steps = sum(map(prices.__getitem__, self._kind_of))
        return steps + code_worth * _code_bytes(cheapest_kinds)


def _prices(prims: Sequence[PrimFunc], flash_worth: float) -> list[float]:
    """Price of each candidate of a step in the sum.

    A step that takes a kernel for the sake of code may pay in RAM: as dear as flash.
    """
    room_bytes = _workspace_bytes(cheapest(prims, flash_worth))
    more_bytes = [max(_workspace_bytes(prim) - room_bytes, 0) for prim in prims]
    return [
        cost_in_sum(prim, flash_worth) + flash_worth * more
        for prim, more in zip(prims, more_bytes, strict=True)
    ]


def _cheapest_of(kind: _Priced) -> tuple[float, int, PrimFunc]:
    return min(kind, key=_first)


def _code_bytes(kinds: _Priced) -> int:
    return used_code_bytes([prim for _, _, prim in kinds])


def _workspace_bytes(prim: PrimFunc) -> int:
    return sum(space.size_bytes for space in prim.workspaces if not space.is_activation)


def _moves(left: Sequence[_Priced]) -> Iterator[list[_Priced]]:
    for kernel in sorted({prim.kernel for kind in left for _, _, prim in kind}):
        yield [[priced for priced in kind if priced[2].kernel != kernel] for kind in left]
        yield [[priced for priced in kind if priced[2].kernel == kernel] or kind for kind in left]


def _instructions(chosen: Sequence[PrimFunc]) -> float:
    return sum(cost_in_sum(prim, 0) for prim in chosen)


def used_code_bytes(chosen: Sequence[PrimFunc]) -> int:
    """Machine code of the kernels of these steps, each function once."""
    symbols = [symbol for prim in chosen for symbol in prim.symbols]
    return code_bytes(symbols, (source for prim in chosen for source in prim.sources))


def flash_bytes(chosen: Sequence[PrimFunc]) -> int:
    """Machine code of the kernels of these steps, and their constants."""
    return used_code_bytes(chosen) + _constant_bytes(chosen)


def _constant_bytes(chosen: Sequence[PrimFunc]) -> int:
    return sum(prim.constant_bytes for prim in chosen)


def select(
    function: Function,
    binder: Binder,
    optimize: str = "speed",
    *,
    spare_bytes: int = 0,
) -> tuple[PrimFunc, ...]:
    """The PrimFunc of every step, in order: `with_shared_code` among all that can run it.

    `spare_bytes` of the code that they may take are left. Where flash is worth less than `FLASH_WORTH`
    (`worth_of_flash`), that buys no RAM: no step takes more workspace than at that price.

    Raises CodegenError (E310, E311) naming every step that no kernel can run.
    """
    candidates = _candidates(function, binder)
    limit = code_limit(optimize, len(candidates))
    limit = None if limit is None else limit - spare_bytes
    full = FLASH_WORTH[optimize]
    chosen = with_shared_code(candidates, full, limit)
    first = [cheapest(kernels, full) for kernels in candidates]
    worth = worth_of_flash(optimize, sum(map(estimated_work, first)), flash_bytes(first))
    if worth == full:
        return chosen
    roomy = zip(candidates, map(_workspace_bytes, chosen), strict=True)
    candidates = [[prim for prim in kernels if _workspace_bytes(prim) <= room] for kernels, room in roomy]
    return with_shared_code(candidates, worth, limit)


def sparing(function: Function, binder: Binder, optimize: str = "speed") -> Binder:
    """`binder`, for `size` without the fast forms (`Kernel.fast_form`) with which the selected kernels would
    take more flash than without them, and no fewer bytes of constants. Raises as `select` does."""
    if optimize != "size":
        return binder
    chosen = select(function, binder, optimize)
    while True:
        without = [binder.without(form) for form in _forms(function, binder, chosen)]
        outcomes = [(select(function, other, optimize), other) for other in without]
        outcomes = [outcome for outcome in outcomes if _constant_bytes(outcome[0]) <= _constant_bytes(chosen)]
        least = min(outcomes, key=lambda outcome: flash_bytes(outcome[0]), default=None)
        if least is None or flash_bytes(least[0]) >= flash_bytes(chosen):
            return binder
        chosen, binder = least


def _forms(
    function: Function, binder: Binder, chosen: Sequence[PrimFunc]
) -> list[frozenset[tuple[str, str]]]:
    """Kernels of each chosen fast form, as `Binder.without` takes them, of all steps.
    A form is missing if a step cannot do without it: its other kernels have no prediction.
    """
    able = [(let, binder.able(let)) for let in function.body]
    chosen_names = {prim.kernel for prim in chosen}
    kernel_sets: list[frozenset[tuple[str, str]]] = []
    forms = {kernel.fast_form for _, kernels in able for kernel in kernels if kernel.name in chosen_names}
    for form in sorted(form for form in forms if form is not None):
        steps = [
            (let, kernels) for let, kernels in able if any(kernel.fast_form == form for kernel in kernels)
        ]
        if all(_has_other(form, let, kernels, binder) for let, kernels in steps):
            pairs = ((let, kernel) for let, kernels in steps for kernel in kernels)
            kernel_sets.append(
                frozenset((step_key(let), kernel.name) for let, kernel in pairs if kernel.fast_form == form)
            )
    return kernel_sets


def _has_other(form: str, let: Let, kernels: Sequence[Kernel], binder: Binder) -> bool:
    others = (kernel for kernel in kernels if kernel.fast_form != form)
    return any(binder.bind(kernel, let, let.var.name).work is not None for kernel in others)


def select_fewest_bytes(function: Function, binder: Binder) -> tuple[PrimFunc, ...]:
    """The PrimFunc of every step, in order: of all that can run it the one that needs the fewest
    bytes. Raises as `select` does."""
    return tuple(min(able, key=lambda prim: needed_bytes(prim, 0)) for able in _candidates(function, binder))


def _candidates(function: Function, binder: Binder) -> list[list[PrimFunc]]:
    messages = Messages()
    candidates: list[list[PrimFunc]] = []
    for let in function.body:
        kernels = _able(let, binder, messages)
        candidates.append([binder.bind(kernel, let, let.var.name) for kernel in kernels])
    messages.raise_if_any()
    return candidates


def _able(let: Let, binder: Binder, messages: Messages) -> list[Kernel]:
    """The kernels that can run `let`; a message saying all reasons if none can."""
    reasons: list[str] = []
    able: list[Kernel] = []
    for kernel in binder.kernels(let):
        if kernel.is_in_place:
            continue
        refusal = binder.refusal(kernel, let)
        if refusal is None:
            able.append(kernel)
        elif refusal not in reasons:
            reasons.append(refusal)
    if able:
        return able
    if reasons:
        messages.add(
            "E311",
            "; ".join(reasons),
            where=let.where,
            help="`codegen ops` lists what each operator supports",
        )
    else:
        messages.add(
            "E310", f"no kernel for {let.call.op.name}", where=let.where, help="`codegen ops` lists operators"
        )
    return []
