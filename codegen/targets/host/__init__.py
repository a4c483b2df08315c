"""This machine: code is compiled by its own gcc and called in process.

In: nothing. Out: `FAMILY`, which `codegen.targets.families` hands on. Start with `FAMILY`.
"""

from codegen.targets.core_family import Architecture, CompilerFacts, CoreFamily, Cores, DecodeCost, Ecosystems

_DECODE = DecodeCost(call=40, group=12, byte=16, taking=5)

FAMILY = CoreFamily(
    name="host",
    title="this machine",
    cores=Cores(
        architectures=(
            Architecture(
                name="host",
                cpus=frozenset({"host"}),
                decode_costs={
                    "speed": _DECODE,
                    "balanced": _DECODE,
                    "size": DecodeCost(call=45, group=12, byte=17, taking=5),
                },
            ),
        ),
        features=frozenset({"fpu", "div"}),
    ),
    compiler=CompilerFacts(prefix="", install="sudo apt-get install gcc libc6-dev"),
    ecosystems=Ecosystems(platformio={"host": ("espressif32", "esp32dev")}),
)
