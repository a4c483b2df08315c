"""TFLite_Detection_PostProcess: one step, whose result holds boxes, classes, scores and their number."""

from collections.abc import Mapping

from codegen.importers.reporting import Refused
from codegen.importers.tflite.operators.custom.custom_options import (
    need_outputs,
    number_options,
    option,
    real_option,
)
from codegen.importers.tflite.operators.rearranging import reshaped, sliced
from codegen.importers.tflite.operators.site import InnerStep, Site, Translated
from codegen.ir import DType, TensorType
from codegen.ir.ops import DetectionAttrs
from codegen.ir.ops.detection import COORDINATES

DETECTION = "TFLite_Detection_PostProcess"
_MOST_OF_CLASS = 100
"""Most detections of one class where the file does not say it."""


def post_process(site: Site) -> tuple[Translated, ...]:
    """Boxes, classes, scores and how many there are: parts of one result.

    Exporters leave the shapes of the results open, and TFLite makes them from the options.
    """
    site.need_inputs(3, 3)
    need_outputs(site, 4)
    options = number_options(site.operator)
    integers = {name: value for name, value in options.items() if isinstance(value, int)}
    most, classes_of_box = option(integers, "max_detections"), option(integers, "max_classes_per_detection")
    rows = most * classes_of_box
    stated = [result.shape for result in site.results]
    if any(stated):
        rows = site.results[1].elements
    shapes = stated if any(stated) else [(1, rows, COORDINATES), (1, rows), (1, rows), (1,)]
    attrs = DetectionAttrs(
        rows=rows,
        classes=option(integers, "num_classes"),
        most=most,
        most_of_class=integers.get("detections_per_class", _MOST_OF_CLASS),
        classes_of_box=classes_of_box,
        by_class=bool(integers.get("use_regular_nms", 0)),
        score=real_option(options, "nms_score_threshold"),
        overlap=real_option(options, "nms_iou_threshold"),
        scales=_scales(options),
    )
    sizes = (COORDINATES * rows, rows, rows, 1)
    if [result.elements for result in site.results] != list(sizes) and any(stated):
        shown = ", ".join(str(list(shape)) for shape in stated)
        text = f"results of shapes {shown} are no boxes, classes, scores and their number"
        shapes = [(1, most, COORDINATES), (1, most), (1, most), (1,)]
        right = ", ".join(str(list(shape)) for shape in shapes)
        raise Refused("E303", text, f"state {right} in the file, or leave the shapes open")
    whole = InnerStep(
        op="DETECTION_POST_PROCESS",
        args=site.args(3),
        attrs=attrs,
        type=TensorType(shape=(sum(sizes),), dtype=DType.FLOAT32),
    )
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return tuple(
        reshaped(sliced(whole, (start,), (size,), (size,)), shape)
        for start, size, shape in zip(starts, sizes, shapes, strict=True)
    )


def _scales(options: Mapping[str, float]) -> tuple[float, float, float, float]:
    scales = tuple(real_option(options, f"{axis}_scale") for axis in "yxhw")
    if 0 in scales:
        raise Refused("E303", "has a scale of 0, by which coordinates would be divided")
    y, x, height, width = scales
    return y, x, height, width
