"""What a user can choose, gathered from command line, environment and codegen.toml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from codegen.plan.program import IoMode
from codegen.search import ScheduleMode, SharingMode
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
    io: IoMode = IoMode.POOL
    keep_inputs: bool = False
    schedule: ScheduleMode = "optimal"
    stream_input: bool = False
    io_types: str = "file"
    blocks: bool = True
    sharing: SharingMode = "overlap"
    dump_ir: Path | None = None
    sandbox: bool = False
    """Lay buffers out so that an MPU can open each of them alone (see codegen.driver.sandbox)."""

    @property
    def spelled(self) -> str:
        """The flags that decide the generated code, spelled out in a fixed order."""
        parts = [f"--board {self.board}", f"--optimize {self.optimize}", f"--planner {self.planner}"]
        parts += [f"--pool {name}={limit}" for name, limit in sorted(self.pool_limits.items())]
        if self.io is not IoMode.POOL:
            parts.append(f"--io {self.io.value}")
        if self.keep_inputs:
            parts.append("--keep-inputs")
        if self.schedule != "optimal":
            parts.append(f"--schedule {self.schedule}")
        if self.stream_input:
            parts.append("--stream-input")
        if self.io_types != "file":
            parts.append(f"--io-types {self.io_types}")
        if not self.blocks:
            parts.append("--no-blocks")
        if self.sharing != "overlap":
            parts.append(f"--sharing {self.sharing}")
        if self.sandbox:
            parts.append("--sandbox")
        if self.seed:
            parts.append(f"--seed {self.seed}")
        return " ".join(parts)
