"""The family of a core; `HOST` is the machine that the generator runs on."""

from functools import cache

from codegen.ir import Target
from codegen.targets import arm
from codegen.targets.core_family import CoreFamily, KernelSet

INSTALL_HOST_GCC = "sudo apt-get install gcc libc6-dev"

HOST = CoreFamily(name="host", folder="host", cpus=frozenset({"host"}))


FAMILIES = (*arm.FAMILIES, HOST)
FEATURES = frozenset(feature for family in FAMILIES for feature in family.features)
"""All that board files may name."""


@cache
def family_of(cpu: str) -> CoreFamily:
    """The family of the core that gcc calls `cpu`.

    Raises ValueError if none lists it: board files are checked by `is_listed`.
    """
    for family in FAMILIES:
        if cpu in family.cpus:
            return family
    raise ValueError(f"no core family lists {cpu!r}")


def is_listed(cpu: str) -> bool:
    """True if a family lists the core: there are kernels, a compiler and start-up code for it."""
    return any(cpu in family.cpus for family in FAMILIES)


def runs(target: Target, kernels: KernelSet) -> bool:
    """Whether `target` runs the kernels of this set."""
    return family_of(target.cpu).runs(kernels, target)
