"""Every choice of a user: a field here is a flag, a variable, a key of codegen.toml and a field in Python."""

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from codegen.driver.inputs.declared_pools import DeclaredPool
from codegen.driver.inputs.dims import GivenDim
from codegen.driver.inputs.models import GivenNames
from codegen.driver.inputs.window_words import GivenWindow
from codegen.importers.graph_inputs import FixedInput
from codegen.program.interface import Interface
from codegen.program.search_options import SearchOptions
from codegen.settings import CODE, SEARCH, TARGET, Firmware, flag_name, flagged

if TYPE_CHECKING:
    from codegen.ir.ops import UserKernel
    from codegen.ir.rules import Place

MOST_SECONDS = 604_800.0
"""A week: nobody waits longer for an inference."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Options(SearchOptions):
    """Options of one build: those of the search, and the rest."""

    board: str = "stm32"
    deadline_seconds: float | None = field(
        default=None,
        metadata=flagged(
            SEARCH,
            "Safety stop for planning; a plan it cuts short is reported as not reproducible.",
            metavar="SECONDS",
            flag="--deadline",
            decides=False,
        ),
    )
    pools: tuple[DeclaredPool, ...] = ()
    """Parts of the board's memories that are pools of their own."""
    interface: Interface = field(default_factory=Interface)
    io_types: Literal["file", "int8", "uint8"] = field(
        default="file",
        metadata=flagged(
            CODE,
            "int8, uint8: expose float inputs and outputs at the model's edge as their integers.",
        ),
    )
    layout: Literal["file", "nhwc", "nchw"] = field(
        default="file",
        metadata=flagged(
            CODE, "Axes of images at the model's edge: channels last (nhwc), channels first (nchw)."
        ),
    )
    reduce: bool = field(
        default=True,
        metadata=flagged(
            SEARCH, "Leave out channels that are constant for every input or that nothing reads; exact."
        ),
    )
    sandbox: bool = False
    """Lay buffers out so that an MPU can open each of them alone (see codegen.driver.checks.image_checks)."""
    memory_model: str | None = field(
        default=None,
        metadata=flagged(
            SEARCH,
            "Choose kernels by cycles behind that part's flash (stm32l4r5; docs/cycles.md), copy constants "
            "from it by its waits; `run --cycles` shows them.",
            metavar="NAME|FILE",
            blamed=("E254",),
        ),
    )
    npu: str | None = field(
        default=None,
        metadata=flagged(
            TARGET,
            "Compile the layers that it takes for an Ethos-U with Vela, a configuration as Vela names it "
            "(ethos-u55-128; extra `npu`).",
            metavar="CONFIGURATION",
            blamed=("E317",),
        ),
    )
    """NPU for which a network's layers are compiled."""
    run_timeout_seconds: float = field(
        default=300.0,
        metadata=flagged(
            TARGET,
            "End an inference on the target that takes longer: it may have no end.",
            metavar="SECONDS",
            flag="--run-timeout",
            decides=False,
        ),
    )
    model_limit: int | None = field(
        default=None,
        metadata=flagged(
            SEARCH,
            "Import models of up to so many bytes of values, and of constants (112M, 128M); planning takes "
            "several times as much memory of this machine.",
            metavar="BYTES",
            decides=False,
        ),
    )
    seed: int = field(default=0, metadata=flagged(SEARCH, "Seed of searches and of made-up inputs."))
    kernels: "tuple[UserKernel, ...]" = ()
    """For operators that codegen lacks, from codegen.toml."""
    places: "tuple[Place, ...]" = ()
    """Memories and devices of values, from codegen.toml."""
    app_elf: Path | None = None
    """The application that the model goes into: pools take what it leaves (`within_application`)."""
    stack_bytes: int | None = None
    """Bytes that the application has for the model's stack. A build that may need more fails (E406)."""
    dump_ir: Path | None = None
    concurrent: tuple[tuple[str, ...], ...] = ()
    """Names of models that may run at the same time, a tuple a set."""
    dims: tuple[GivenDim, ...] = ()
    """Sizes of inputs that are known as ranges."""
    fixes: tuple[FixedInput, ...] = ()
    """Graph inputs that are constants."""
    windows: tuple[GivenWindow, ...] = ()
    """The input that is a window and moves from call to call; at most one."""
    names: GivenNames = field(default_factory=GivenNames)
    """C prefixes of the models, in place of those after their files."""
    firmware: Firmware = "test"
    lock: Path | None = None
    """File of figures that the build must have (`codegen.driver.checks.lock`)."""

    @property
    def has_ranges(self) -> bool:
        """True if a size of an input is known as a range; one size (`T=37`) is none."""
        return any(dim.is_range for dim in self.dims)

    @property
    def spelled(self) -> str:
        """The flags that decide the generated code, spelled out in a fixed order."""
        parts = [f"--board {self.board}", f"--optimize {self.optimize}", f"--planner {self.planner}"]
        parts += [f"--pool {name}={limit}" for name, limit in sorted(self.pool_limits.items())]
        parts += [f"--pool {pool}" for pool in self.pools]
        parts += [f"--name {word}" for word in self.names.words]
        parts += [f"--dim {dim}" for dim in self.dims]
        parts += [f"--window {window}" for window in self.windows]
        parts += [fix.spelled for fix in self.fixes]
        parts += [f"--concurrent {','.join(group)}" for group in self.concurrent]
        parts += [f"constants: {rule} in {rule.memory}" for rule in self.constant_rules]
        for option in fields(self):
            parts += self._words(option)
        parts += [place.spelled for place in self.places]
        parts += [state.spelled for state in self.states]
        return " ".join(parts)

    def _words(self, option: "Field[object]") -> Iterator[str]:
        """The flags of one field, where they are not at their defaults."""
        if option.name == "interface":
            for part in fields(self.interface):
                yield from _word(
                    f"--{part.name.replace('_', '-')}", getattr(self.interface, part.name), part.default
                )
        elif option.name == "sandbox":
            yield from _word("--sandbox", self.sandbox, False)
        elif (flag := option.metadata.get("flag")) is not None and flag.decides:
            yield from _word(flag_name(option, flag), getattr(self, option.name), option.default)


def _word(flag: str, value: object, default: object) -> Iterator[str]:
    """`--io caller`, `--no-reduce`: what sets an option to `value`, nothing for its default."""
    if value != default:
        on_off = flag.rpartition("/")[2]
        yield (
            on_off
            if isinstance(value, bool)
            else f"{flag} {value.value if isinstance(value, Enum) else value}"
        )
