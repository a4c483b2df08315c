"""A toy core family: this machine's C compiler under another name, code called in process.

In: nothing. Out: `FAMILY`, which `codegen.targets.families` hands on. Start with `FAMILY`.
"""

from codegen.targets.core_family import Architecture, CompilerFacts, CoreFamily, Cores, DecodeCost

_DECODE = DecodeCost(call=40, group=12, byte=16, taking=5)

FAMILY = CoreFamily(
    name="toy",
    title="toy",
    cores=Cores(
        architectures=(
            Architecture(
                name="Toy32",
                cpus=frozenset({"toy32"}),
                decode_costs={"speed": _DECODE, "balanced": _DECODE, "size": _DECODE},
            ),
        )
    ),
    compiler=CompilerFacts(prefix="toy-", install="make the link `toy-gcc` to gcc"),
)
