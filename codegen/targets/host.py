"""The machine that the generator runs on: kernels in portable C, no fault words, no registers."""

from codegen.targets.core_family import CoreFamily

INSTALL_HOST_GCC = "sudo apt-get install gcc libc6-dev"

HOST = CoreFamily(name="host", cpus=frozenset({"host"}))
