"""Files that Vela compiled for an Ethos-U: what their command streams do, run on a functional model.

In: a .tflite file with operators `ethos-u`. Out: commands by kind, memory, and outputs that are compared with
an engine's of the file before Vela. Start with `vela_file`.
"""

from codegen.api.tool import ToolDeclaration, Verb

TOOL = ToolDeclaration(
    verbs={
        "npu": Verb(
            module="codegen.tools.npu.npu_verb",
            help="""Run a .tflite file that Vela compiled for an Ethos-U on a functional model of the device.

The model decodes the command stream and the compressed weights, checks every access against its memory
region, and computes what the device computes, bit by bit. It needs the host's C compiler. Files whose layers
are all on the NPU can be run; others are listed.""",
        ),
    },
    docs=("guides/npu.md", "npu_commands.md"),
)
