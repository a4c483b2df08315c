"""The supported Python interface: `codegen.build`, `codegen.run`, `codegen.plan`.

In: model files and `Options`. Out: a `Report`, the values of report.json with types. What goes wrong is a
`CodegenError` with every message, as on the command line. Start reading at `calls.py`.
"""

from codegen.api.calls import build, plan, run
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.report_file import Report

__all__ = ["Case", "CodegenError", "Options", "Report", "build", "plan", "run"]
