"""Constants that fit their memory but not beside the code: how large that is, only the linker knows."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from codegen.driver.checks.fit import telling
from codegen.errors import CodegenError
from codegen.ir import Board
from codegen.program.bundle import Bundle
from codegen.toolchain import RegionsTooSmall

_MORE_LINKS = 3
"""With constants as small as the link before asked for; what decodes them is code as well."""

_Built = TypeVar("_Built")


class LinkedTooLarge(CodegenError):
    """E410 of the firmware of `bundle`."""

    def __init__(self, missed: RegionsTooSmall, bundle: Bundle) -> None:
        super().__init__(missed.messages)
        self.lacking, self.bundle = missed.lacking, bundle


def beside_code(build: Callable[[Mapping[str, int]], _Built], board: Board) -> _Built:
    """What `build` makes, if need be with constants of the code region limited to what the code leaves: it is
    called with limits in bytes by pool.

    Raises CodegenError as `build` does; where constants cannot be that small, what the linker said is first.
    """
    try:
        return build({})
    except LinkedTooLarge as missed:
        first = missed
    limits = _limits(first, board)
    for _ in range(_MORE_LINKS):
        if any(limit <= 0 for limit in limits.values()) or not limits:
            break
        try:
            with telling():
                return build(limits)
        except LinkedTooLarge as missed:
            # Decoding needs code too.
            limits = _limits(missed, board)
        except CodegenError as missed:
            raise CodegenError((*first.messages, *missed.messages)) from None
    raise first


def _limits(missed: LinkedTooLarge, board: Board) -> dict[str, int]:
    """Bytes that the constants of the code region may take, if nothing else lacks any."""
    region = board.region(board.code_region)
    if set(missed.lacking) != {region.name} or region.writable:
        return {}
    sizes = {pool.name: pool.size_bytes for pool in missed.bundle.constants if pool.region == region.name}
    return {name: size - missed.lacking[region.name] for name, size in sizes.items()}
