"""Toolchain: sources in, a linked and checked image out; and what this machine lacks for it."""

from codegen.toolchain.cycles import build_counts_plugin
from codegen.toolchain.doctor import Finding, doctor
from codegen.toolchain.elf import FreeRange, TakenRange, left_by, taken_ranges
from codegen.toolchain.gcc import RegionsTooSmall
from codegen.toolchain.image_build import HOOK_FUNCTIONS, LEVELS, Optimize, build, check_pools, tools
from codegen.toolchain.uf2 import write_uf2

__all__ = [
    "HOOK_FUNCTIONS",
    "LEVELS",
    "Finding",
    "FreeRange",
    "Optimize",
    "RegionsTooSmall",
    "TakenRange",
    "build",
    "build_counts_plugin",
    "check_pools",
    "doctor",
    "left_by",
    "taken_ranges",
    "tools",
    "write_uf2",
]
