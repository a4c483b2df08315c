"""What a kernel demands of the memory that its arguments, its result and its workspaces lie in."""

from dataclasses import dataclass

DMA = "dma"
"""Word for every pool that DMA reaches (`Region.dma`); boards say which those are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryDemand:
    """Argument `argument`, workspace `workspace` or, where neither is set, the result has to lie in one of
    the pools `scopes`.

    As kernels state it, `scopes` may hold `DMA`; once devices are planned it holds names of pools only.
    Raises ValueError for a demand of both, or of no memory at all.
    """

    scopes: tuple[str, ...]
    argument: int | None = None
    workspace: str | None = None
    who: str = ""
    """Who demands it, if that is not the kernel."""

    def __post_init__(self) -> None:
        if not self.scopes or (self.argument is not None and self.workspace is not None):
            raise ValueError(f"a demand of one thing, for some memory: {self}")

    @property
    def what(self) -> str:
        """How messages name what it is about."""
        if self.argument is not None:
            return f"argument {self.argument}"
        return "its result" if self.workspace is None else f"workspace {self.workspace}"
