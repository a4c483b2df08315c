"""Toolchain: sources in, a linked and checked image out; and what this machine lacks for it."""

from codegen.toolchain.build import LEVELS, Optimize, build
from codegen.toolchain.doctor import Finding, doctor
from codegen.toolchain.pools import check_pools

__all__ = ["LEVELS", "Finding", "Optimize", "build", "check_pools", "doctor"]
