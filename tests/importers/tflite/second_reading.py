"""A reading of `.tflite` files that shares no line with the importer: field numbers, types and defaults of
schema.fbs (version 3) written out below, followed through the bytes with `struct` alone.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TABLES = """
Model version:uint operator_codes:[OperatorCode] subgraphs:[SubGraph] description:string buffers:[Buffer]
  metadata_buffer:[int] metadata:[Metadata] signature_defs:[SignatureDef]
OperatorCode deprecated_builtin_code:byte custom_code:string version:int=1 builtin_code:int
SubGraph tensors:[Tensor] inputs:[int] outputs:[int] operators:[Operator] name:string
Tensor shape:[int] type:byte buffer:uint name:string quantization:QuantizationParameters is_variable:bool
  sparsity:Anything shape_signature:[int] has_rank:bool
QuantizationParameters min:[float] max:[float] scale:[float] zero_point:[long] details_type:ubyte
  details:Anything quantized_dimension:int
Operator opcode_index:uint inputs:[int] outputs:[int] builtin_options_type:ubyte builtin_options:Anything
  custom_options:[ubyte] custom_options_format:byte mutating_variable_inputs:[bool] intermediates:[int]
  large_custom_options_offset:ulong large_custom_options_size:ulong
Buffer data:[ubyte] offset:ulong size:ulong
Metadata name:string buffer:uint
SignatureDef inputs:[Anything] outputs:[Anything] signature_key:string deprecated_tag:string
  subgraph_index:uint
Anything
Conv2DOptions padding:byte stride_w:int stride_h:int fused_activation_function:byte dilation_w_factor:int=1
  dilation_h_factor:int=1 quantized_bias_type:byte
DepthwiseConv2DOptions padding:byte stride_w:int stride_h:int depth_multiplier:int
  fused_activation_function:byte dilation_w_factor:int=1 dilation_h_factor:int=1
Pool2DOptions padding:byte stride_w:int stride_h:int filter_width:int filter_height:int
  fused_activation_function:byte
FullyConnectedOptions fused_activation_function:byte weights_format:byte keep_num_dims:bool
  asymmetric_quantize_inputs:bool quantized_bias_type:byte
SoftmaxOptions beta:float
ConcatenationOptions axis:int fused_activation_function:byte
AddOptions fused_activation_function:byte pot_scale_int16:bool=1
SubOptions fused_activation_function:byte pot_scale_int16:bool=1
MulOptions fused_activation_function:byte
ReshapeOptions new_shape:[int]
ReducerOptions keep_dims:bool
SqueezeOptions squeeze_dims:[int]
StridedSliceOptions begin_mask:int end_mask:int ellipsis_mask:int new_axis_mask:int shrink_axis_mask:int
  offset:bool
LeakyReluOptions alpha:float
PackOptions values_count:int axis:int
CallOnceOptions init_subgraph_index:int
IfOptions then_subgraph_index:int else_subgraph_index:int
WhileOptions cond_subgraph_index:int body_subgraph_index:int
VarHandleOptions container:string shared_name:string
L2NormOptions fused_activation_function:byte
ResizeBilinearOptions new_height:int new_width:int align_corners:bool half_pixel_centers:bool
SpaceToDepthOptions block_size:int
GatherOptions axis:int batch_dims:int
DivOptions fused_activation_function:byte
TransposeConvOptions padding:byte stride_w:int stride_h:int fused_activation_function:byte
  quantized_bias_type:byte
UnpackOptions num:int axis:int
ResizeNearestNeighborOptions align_corners:bool half_pixel_centers:bool
SVDFOptions rank:int activation:byte asymmetric_quantize_inputs:bool
UnidirectionalSequenceLSTMOptions activation:byte cell_clip:float proj_clip:float time_major:bool
MirrorPadOptions mode:byte
DepthToSpaceOptions block_size:int
BatchMatMulOptions adj_x:bool adj_y:bool asymmetric_quantize_inputs:bool
CumsumOptions exclusive:bool reverse:bool
ArgMaxOptions output_type:byte
ArgMinOptions output_type:byte
SplitOptions num_splits:int
SplitVOptions num_splits:int
ShapeOptions out_type:byte
CastOptions in_data_type:byte out_data_type:byte
ExpandDimsOptions
TransposeOptions
PadOptions
PadV2Options
QuantizeOptions
DequantizeOptions
"""

OPTION_TABLES: Mapping[int, str] = {
    116: "GeluOptions",
    1: "Conv2DOptions",
    2: "DepthwiseConv2DOptions",
    5: "Pool2DOptions",
    8: "FullyConnectedOptions",
    9: "SoftmaxOptions",
    10: "ConcatenationOptions",
    11: "AddOptions",
    17: "ReshapeOptions",
    21: "MulOptions",
    27: "ReducerOptions",
    28: "SubOptions",
    30: "SqueezeOptions",
    32: "StridedSliceOptions",
    59: "PackOptions",
    75: "LeakyReluOptions",
    92: "IfOptions",
    93: "WhileOptions",
    103: "CallOnceOptions",
    111: "VarHandleOptions",
    12: "L2NormOptions",
    15: "ResizeBilinearOptions",
    19: "SpaceToDepthOptions",
    23: "GatherOptions",
    6: "SVDFOptions",
    29: "DivOptions",
    49: "TransposeConvOptions",
    64: "UnpackOptions",
    71: "UnidirectionalSequenceLSTMOptions",
    74: "ResizeNearestNeighborOptions",
    77: "MirrorPadOptions",
    94: "DepthToSpaceOptions",
    101: "BatchMatMulOptions",
    102: "CumsumOptions",
    22: "PadOptions",
    26: "TransposeOptions",
    35: "SplitOptions",
    37: "CastOptions",
    38: "DequantizeOptions",
    40: "ArgMaxOptions",
    43: "PadV2Options",
    52: "ExpandDimsOptions",
    55: "ShapeOptions",
    57: "ArgMinOptions",
    79: "SplitVOptions",
    89: "QuantizeOptions",
}
"""Those members of the union `BuiltinOptions` that the importer reads, by their number."""

_FORMS = {
    "byte": "<b",
    "ubyte": "<B",
    "bool": "<?",
    "int": "<i",
    "uint": "<I",
    "float": "<f",
    "long": "<q",
    "ulong": "<Q",
}


def _parsed(text: str) -> dict[str, list[tuple[str, str, str]]]:
    """Name, type and default of the fields of every table, in order; a field's number is its place."""
    tables: dict[str, list[tuple[str, str, str]]] = {}
    for line in text.replace("\n  ", " ").strip().splitlines():
        name, *fields = line.split()
        tables[name] = []
        for field in fields:
            word, _, kind = field.partition(":")
            kind, _, default = kind.partition("=")
            tables[name].append((word, kind, default))
    return tables


TABLES = _parsed(_TABLES)


@dataclass(frozen=True, slots=True)
class _Bytes:
    data: bytes

    def get(self, form: str, at: int) -> Any:
        return struct.unpack_from(form, self.data, at)[0]

    def follow(self, at: int) -> int:
        return at + int(self.get("<I", at))

    def table(self, name: str, at: int) -> dict[str, Any]:
        """Every field of a table by its name: the default where it is absent, None for absent tables."""
        vtable = at - self.get("<i", at)
        length = self.get("<H", vtable)
        found: dict[str, Any] = {"_at": at}
        for number, (word, kind, default) in enumerate(TABLES[name]):
            entry = 4 + 2 * number
            offset = self.get("<H", vtable + entry) if entry < length else 0
            found[word] = self._value(kind, at + offset) if offset else _absent(kind, default)
        return found

    def _value(self, kind: str, at: int) -> Any:
        if kind in _FORMS:
            return self.get(_FORMS[kind], at)
        start = self.follow(at)
        if not kind.startswith("[") and kind != "string":
            return self.table(kind, start)
        count, start = self.get("<I", start), start + 4
        if kind == "string":
            return self.data[start : start + count]
        item = kind.strip("[]")
        if item not in _FORMS:
            return [self.table(item, self.follow(start + 4 * index)) for index in range(count)]
        form = _FORMS[item]
        return list(struct.unpack_from(f"<{count}{form[1]}", self.data, start))


def _absent(kind: str, default: str) -> Any:
    if kind in _FORMS:
        return type(struct.unpack(_FORMS[kind], bytes(8)[: struct.calcsize(_FORMS[kind])])[0])(
            int(default or 0)
        )
    return [] if kind.startswith("[") else None


def second_reading(data: bytes) -> dict[str, Any]:
    """What a file says: its root table, with the bytes of buffers and the options of operators in place."""
    file = _Bytes(data)
    model = file.table("Model", file.follow(0))
    for buffer in model["buffers"]:
        if buffer["offset"] > 1:
            buffer["data"] = list(data[buffer["offset"] : buffer["offset"] + buffer["size"]])
    for operator in (operator for graph in model["subgraphs"] for operator in graph["operators"]):
        kind = operator["builtin_options_type"]
        options = operator["builtin_options"]
        operator["options"] = None
        if options is not None and kind in OPTION_TABLES:
            operator["options"] = file.table(OPTION_TABLES[kind], options["_at"])
        if operator["large_custom_options_offset"] > 1:
            start = operator["large_custom_options_offset"]
            operator["custom_options"] = list(data[start : start + operator["large_custom_options_size"]])
        code = model["operator_codes"][operator["opcode_index"]]
        # Readers of the schema take the larger of the byte that old files have and the field of new ones.
        operator["code"] = max(code["deprecated_builtin_code"], code["builtin_code"])
        operator["custom_code"] = (code["custom_code"] or b"").decode()
    return model
