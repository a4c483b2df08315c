"""The core as programs and tools call it.

Programs call `build`, `run` and `plan`: model files and `Options` in, a `Report` out, the values of
report.json with types. A failure is a `CodegenError` with every message, as on the command line. Start with
`calls`. Tools import the other names too, from here and nowhere else.
"""

# The names are imported by others.
# pyright: reportUnusedImport=false

from typing import TYPE_CHECKING

from codegen.late_imports import late_imports

if TYPE_CHECKING:
    from codegen import __version__
    from codegen.api.calls import build, plan, run
    from codegen.board import check_can_run, load_board, load_memory_model
    from codegen.board.attached import check_flashed
    from codegen.board.flash.tools import TOOLS as FLASH_TOOLS
    from codegen.board.flashing import ELF, FlashTool, SerialLine, baud_of, flash
    from codegen.command.console import progress, show_error, show_warnings, table
    from codegen.command.flags import model_flags
    from codegen.command.option_table import GroupedVerb
    from codegen.disk import temporary_folder, write_whole
    from codegen.documents import MAX_TOML_BYTES, read_toml, to_json
    from codegen.driver.build import Built
    from codegen.driver.build import build as build_models
    from codegen.driver.build import document as report_document
    from codegen.driver.built_report import read_report
    from codegen.driver.curve import curve_report, plan_curve
    from codegen.driver.example import example_inputs
    from codegen.driver.inputs.array_shapes import layout_advice, uneven_rows
    from codegen.driver.inputs.cases import ArraySource, Case, fitting, made_up_case, with_variables
    from codegen.driver.inputs.files import (
        DATA,
        PAGE,
        changed_meanwhile,
        check_outputs,
        example_model,
        existing,
        write_file,
    )
    from codegen.driver.inputs.models import model_name
    from codegen.driver.options import Options
    from codegen.driver.report.output_check import array
    from codegen.driver.run import RunConditions, all_complaints, check_linked, execute_all, patience_of
    from codegen.emit import staged, write_bill
    from codegen.emit.c.c_text import fill as fill_template
    from codegen.emit.c.spelling import float32
    from codegen.emit.firmware.folder_files import toolchain_file
    from codegen.emit.folder.manifest import MANIFEST, is_as_written, read_manifest
    from codegen.emit.readme import usage
    from codegen.engines import Request as EngineRequest
    from codegen.engines import evaluate as engine_outputs
    from codegen.engines import find_engine
    from codegen.errors import CodegenError, ExitCode, Message, Messages, counted, listed
    from codegen.ethos_u.functional_model import run as run_on_npu_model
    from codegen.ethos_u.payload import FIXED_INPUTS as NPU_FIXED_INPUTS
    from codegen.ethos_u.payload import MOST_BYTES as NPU_MOST_BYTES
    from codegen.ethos_u.payload import OPERATOR as NPU_OPERATOR
    from codegen.ethos_u.payload import split as npu_payload
    from codegen.ethos_u.register_commands import kinds as npu_operations
    from codegen.extras import install_extra
    from codegen.importers.dispatch import load as load_model
    from codegen.importers.dispatch import model_bytes
    from codegen.importers.limits import ByteLimits, byte_limits
    from codegen.importers.onnx.file.reader import package as onnx_package
    from codegen.importers.onnx.file.reader import read_graph as read_onnx_graph
    from codegen.importers.printable_names import printable
    from codegen.importers.tflite.file.reader import FileModel, FileOperator, FileTensor
    from codegen.importers.tflite.file.reader import read as read_tflite
    from codegen.ir import DType, Runner, TensorType
    from codegen.ir.byte_sizes import size_bytes
    from codegen.ir.c_names import is_reserved_file
    from codegen.ir.hardware import Board, MemoryModel
    from codegen.pages import model_titles, render_page
    from codegen.pages.chart_axes import LevelLine, byte_ticks, round_ticks, short_bytes
    from codegen.program.image import Trace
    from codegen.program.interface import IoTensor
    from codegen.progress import Progress, silent
    from codegen.report_file import Report
    from codegen.resources import folder as data_folder
    from codegen.settings import Optimize
    from codegen.targets.core_family import Ecosystems
    from codegen.targets.families import family_of
    from codegen.toml import Name, decode, line_of
    from codegen.toolchain import tools as compiler_tools

__all__ = ["Case", "CodegenError", "Options", "Report", "build", "plan", "run"]

__getattr__ = late_imports(__name__, __file__)
