"""What the models of a bundle share, in C: pools and constants."""

from dataclasses import dataclass

from codegen.emit.c.c_text import comment_lines, macros
from codegen.emit.c.program_names import constant_pool, pool_macro
from codegen.program.program import Bundle


def constant_macros(bundle: Bundle) -> list[tuple[str, str]]:
    """Macros with the sizes of the constant pools, in bytes."""
    constants = [(constant_pool(bundle, pool), pool.size_bytes) for pool in bundle.constants]
    return [(pool_macro(bundle.prefix, name), f"{size_bytes}u") for name, size_bytes in constants]


@dataclass(frozen=True, kw_only=True, slots=True)
class SetView:
    """What a bundle's models share, in C: pools and constants."""

    name: str
    """Of the files with the constants, in front of `_data`."""
    macro: str
    about: tuple[str, ...]
    """Comment lines: which models share."""
    is_single: bool
    header: str
    """Header with the pools' sizes."""
    sizes: str
    """Macros with the sizes of all pools, for a header of their own."""


def set_view(bundle: Bundle) -> SetView:
    """The view of a bundle."""
    models = f"Shared by {', '.join(program.name for program in bundle.programs)}."
    sizes = [(pool_macro(bundle.prefix, pool.name), f"{pool.size_bytes}u") for pool in bundle.pools]
    return SetView(
        name=bundle.prefix,
        macro=bundle.prefix.upper(),
        about=tuple(comment_lines(models, first=" * ", rest=" * ")),
        is_single=bundle.is_single,
        header=f"{bundle.prefix}.h" if bundle.is_single else f"{bundle.prefix}_pools.h",
        sizes=macros([*sizes, *constant_macros(bundle)]),
    )
