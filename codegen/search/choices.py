"""Choices of one search: what the user fixed (`SearchOptions`), and what one build adds.

Limits of pools become fields of the pools here; whoever plans in them asks the pools.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codegen.constants.constant_pools import constant_pools
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Function, MemoryModel, Region
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.clock import Clock
from codegen.problem.problem import Limits, Pool
from codegen.program.interface import Edge
from codegen.program.search_options import SearchOptions
from codegen.progress import Tally


def board_pools(
    options: SearchOptions, board: Board, *, emulated: bool, state_bytes: int = 0
) -> tuple[Pool, ...]:
    """Pools of a board, one per writable region, in its order of preference, within the limits of `options`.

    `emulated`: leave out regions the emulator lacks. `state_bytes`: what the state of several models
    takes, of which none shares a byte with another; it gets a pool of its own, the last, in the region of
    the first. Raises CodegenError E215 for a limit on a pool that the board does not have, or for one in
    `only` that holds no values.
    """
    regions = [region for region in board.regions if region.writable and (region.emulated or not emulated)]
    names = [region.pool_name for region in regions]
    # Limits of constant pools count where constants are linked.
    names += [region.pool_name for region in board.regions if not region.writable]
    unknown = sorted(set(options.pool_limits) - set(names))
    if unknown:
        text = f"{board.name} has no pool {', '.join(unknown)}"
        near = [name for name in names if name in map(str.lower, unknown)]
        guess = f"did you mean {near[0]}? " if near else ""
        raise CodegenError(Message(code="E215", text=text, help=f"{guess}its pools are {', '.join(names)}"))
    pools: list[Pool] = []
    for region in _only_named(options, board, regions):
        reserved = board.reserved_bytes if region.name == board.data_region else 0
        room = region.end - region.start - reserved
        pools.append(
            Pool(
                name=region.pool_name,
                region=region.name,
                limit_bytes=min(room, options.pool_limits.get(region.pool_name, room)),
                room_bytes=room,
                alignment=board.pool_alignment_bytes,
                section=f".bss.cg.{region.pool_name}",
                read_cost=region.access_cost,
                write_cost=region.access_cost,
            )
        )
    return tuple(pools) if not state_bytes else _with_state(pools, state_bytes)


def _only_named(options: SearchOptions, board: Board, regions: Sequence[Region]) -> Sequence[Region]:
    """The `regions` whose pools `--only` names; all without it. Raises CodegenError E215."""
    if options.only is None:
        return regions
    named = [name.strip() for name in options.only.split(",")]
    usable = [region.pool_name for region in regions]
    unknown = [name for name in named if name not in usable]
    if unknown:
        text = f"{board.name} has no pool of values that is called {', '.join(map(repr, unknown))}"
        help_ = f"its pools of values are {', '.join(usable)}"
        raise CodegenError(Message(code="E215", where=f"--only {options.only}", text=text, help=help_))
    return [region for region in regions if region.pool_name in named]


def _with_state(pools: Sequence[Pool], state_bytes: int) -> tuple[Pool, ...]:
    """`pools`, of the first so many bytes less, which become a pool of their own."""
    # Test firmware opens the two by an MPU that knows granules of 32 bytes.
    first, room = replace(pools[0], alignment=max(pools[0].alignment, 32)), pools[0].room_bytes or 0
    left = max(room - state_bytes, 0)
    state_pool = replace(first, name=f"{first.name}_state", limit_bytes=state_bytes, room_bytes=state_bytes)
    return (replace(first, limit_bytes=min(first.limit_bytes, left), room_bytes=left), *pools[1:], state_pool)


@dataclass(frozen=True, kw_only=True, slots=True)
class LastingInputs:
    """Inputs that are state from one inference to the next."""

    names: frozenset[str] = frozenset()
    memories: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Input that has to lie in a certain pool -> that pool."""
    shifted: frozenset[str] = frozenset()
    """Inputs that a step shifts where they are, so that nothing has to be copied."""


NO_STATE = LastingInputs()


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedValues:
    """Values whose memories or devices places of `codegen.toml` name, and which places."""

    who: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> who gave it its device, for messages."""
    reads: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> memory scope in which the step that computes it finds its arguments, and who wants that."""


NO_PLACES = PlacedValues()


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices(SearchOptions):
    """Fixed choices of one search. `beside_code`: constant pool -> bytes that the linked code leaves in
    it.
    """

    beside_code: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=Clock, compare=False)
    """That of one search, which starts it by the deadline of `limits`."""
    plans: Tally = field(default_factory=Tally, compare=False)
    """Memory plans that the search has weighed, counted."""
    among_others: bool = False
    """Other models are built too: a rule that applies to nothing here may be for one of them."""
    state_bytes: int = 0
    """Bytes of the state of all models that no rule gives a pool, where there are several models: a pool
    is made for it.
    """
    lasting: LastingInputs = NO_STATE
    """Known when `search` has paired `states`."""
    alone: bool = False
    """No other model runs in the same pools, so that copies made at start-up last."""
    memory: MemoryModel | None = None
    """The flash that kernels are chosen for, by cycles; None: by instructions."""
    patches: bool = True
    """Blocks may be cut into bands of rows, too."""
    emulated: bool = True
    """Leave out regions that the board's emulator lacks."""
    placed: PlacedValues = NO_PLACES

    def limited(self, limits: Mapping[str, int]) -> "Choices":
        """Return a copy with other limits of some pools, in bytes by name."""
        return replace(self, pool_limits={**self.pool_limits, **limits})

    def pools(self, board: Board) -> tuple[Pool, ...]:
        """Pools in which this search may place buffers. Raises CodegenError as `board_pools` does."""
        return board_pools(self, board, emulated=self.emulated, state_bytes=self.state_bytes)

    def constant_pools(self, board: Board, prim_funcs: Sequence[PrimFunc]) -> tuple[Pool, ...]:
        """Pools in which this search may place constants of kernels."""
        return constant_pools(
            board, self.pool_limits, prim_funcs, emulated=self.emulated, beside_code=self.beside_code
        )

    @property
    def state_pools(self) -> frozenset[str]:
        """Pools of the board in which nothing but state may lie."""
        return frozenset(rule.memory for rule in self.states if rule.memory is not None)

    def edge(self, function: Function | None = None) -> Edge:
        """Inputs and outputs that are the application's; without a function no input is streamed."""
        params = function.params if function is not None and self.stream_input else ()
        kept = self.keep_inputs or self.lasting.names
        streamed = params[0].name if params else None
        return Edge(io=self.io, kept=kept, shifted=self.lasting.shifted, streamed=streamed)
