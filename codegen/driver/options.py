"""What a user can choose, gathered from command line, environment and codegen.toml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from codegen.driver.inputs.declared_pools import DeclaredPool
from codegen.driver.inputs.model_names import GivenNames
from codegen.ir.ops import UserKernel
from codegen.ir.rules.places import Place
from codegen.ir.rules.states import StateRule
from codegen.plan.constants.constant_rules import ConstantRule
from codegen.program.interface import Interface, IoMode
from codegen.search import CompressMode, ScheduleMode, SharingMode, StageMode
from codegen.toolchain import Optimize


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of one build. `pool_limits` maps pool name to hard limit in bytes."""

    board: str = "stm32"
    optimize: Optimize = "balanced"
    planner: str = "optimal"
    deadline_seconds: float | None = None
    seed: int = 0
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    pools: tuple[DeclaredPool, ...] = ()
    """Parts of the board's memories that are pools of their own."""
    io: IoMode = IoMode.POOL
    interface: Interface = field(default_factory=Interface)
    keep_inputs: bool = False
    schedule: ScheduleMode = "optimal"
    stream_input: bool = False
    io_types: Literal["file", "int8"] = "file"
    blocks: bool = True
    sharing: SharingMode = "overlap"
    reduce: bool = True
    """Leave out channels that are constant or that nothing reads (`codegen.passes.reduce`)."""
    kernels: tuple[UserKernel, ...] = ()
    """For operators that codegen lacks, from codegen.toml."""
    places: tuple[Place, ...] = ()
    """Memories and devices of values, from codegen.toml."""
    states: tuple[StateRule, ...] = ()
    """Outputs that are inputs of the next inference, from codegen.toml."""
    app_elf: Path | None = None
    """The application that the model goes into: pools take what it leaves (`within_application`)."""
    constant_rules: tuple[ConstantRule, ...] = ()
    """Where constants lie, from codegen.toml."""
    stage: StageMode = "auto"
    """Copy constants that are read often to faster memory where the board's access costs say that it pays;
    `auto` copies nothing where the way that firmware calls the model excludes it."""
    compress: CompressMode = "auto"
    """Store constants compressed where they do not fit their pools otherwise; `auto` stores all as they are
    where the way that firmware calls the model excludes it."""
    stack_bytes: int | None = None
    """What the application has for the model's stack: a build that may need more fails (E406)."""
    dump_ir: Path | None = None
    concurrent: tuple[tuple[str, ...], ...] = ()
    """Names of models that may run at the same time, a tuple a set."""
    names: GivenNames = field(default_factory=GivenNames)
    """C prefixes of the models, in place of those after their files."""
    lock: Path | None = None
    """File of figures that the build must have (`codegen.driver.checks.lock`)."""
    sandbox: bool = False
    """Lay buffers out so that an MPU can open each of them alone (see codegen.driver.checks.sandbox)."""

    @property
    def spelled(self) -> str:
        """The flags that decide the generated code, spelled out in a fixed order."""
        words: tuple[tuple[bool, str], ...] = (
            (self.io is not IoMode.POOL, f"--io {self.io.value}"),
            (self.interface.is_stepwise, "--entry steps"),
            (self.interface.caller_pools, "--pools caller"),
            (self.interface.external, "--constants external"),
            (self.keep_inputs, "--keep-inputs"),
            (self.schedule != "optimal", f"--schedule {self.schedule}"),
            (self.stream_input, "--stream-input"),
            (self.io_types != "file", f"--io-types {self.io_types}"),
            (not self.blocks, "--no-blocks"),
            (self.sharing != "overlap", f"--sharing {self.sharing}"),
            (not self.reduce, "--no-reduce"),
            (self.stage != "auto", f"--stage {self.stage}"),
            (self.compress != "auto", f"--compress {self.compress}"),
            (self.sandbox, "--sandbox"),
            (self.seed != 0, f"--seed {self.seed}"),
        )
        parts = [f"--board {self.board}", f"--optimize {self.optimize}", f"--planner {self.planner}"]
        parts += [f"--pool {name}={limit}" for name, limit in sorted(self.pool_limits.items())]
        parts += [f"--pool {pool}" for pool in self.pools]
        parts += [f"--name {word}" for word in self.names.words]
        parts += [f"--concurrent {','.join(group)}" for group in self.concurrent]
        parts += [f"constants: {rule} in {rule.memory}" for rule in self.constant_rules]
        parts += [text for given, text in words if given]
        parts += [place.spelled for place in self.places]
        parts += [state.spelled for state in self.states]
        return " ".join(parts)
