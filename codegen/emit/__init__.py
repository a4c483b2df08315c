"""Emit: a `Program` becomes a folder of plain C. It never asks how the program was found."""

from codegen.emit.figures import figures
from codegen.emit.folder import staged, write
from codegen.emit.render import render

__all__ = ["figures", "render", "staged", "write"]
