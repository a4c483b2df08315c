"""Emit: a `Program` becomes a folder of plain C. It never asks how the program was found."""

from codegen.emit.firmware.mlperf_tiny import mlperf_refusal
from codegen.emit.folder.bill import write_bill
from codegen.emit.folder.whole_folder import staged, write
from codegen.emit.model.header import figures
from codegen.emit.readme import folder_readme
from codegen.emit.render import render

__all__ = ["figures", "folder_readme", "mlperf_refusal", "render", "staged", "write", "write_bill"]
