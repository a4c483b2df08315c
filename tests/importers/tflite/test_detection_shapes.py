"""Detections whose results have other shapes than the engine gives them."""

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.operators.custom.detection import DETECTION
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from tests.opgen.families.detection import options_of


def test_shapes_that_are_no_detections_are_told_with_those_that_are() -> None:
    """Files that hold [10] four times were refused, and nothing said what belongs there."""
    make = ModelBuilder()
    boxes = make.tensor("boxes", (1, 20, 4), "float32")
    scores = make.tensor("scores", (1, 20, 3), "float32")
    anchors = make.tensor("anchors", (20, 4), "float32", data=np.ones((20, 4), np.float32))
    results = [make.tensor(f"r{number}", (10,), "float32") for number in range(4)]
    numbers = {"max_detections": 10, "max_classes_per_detection": 1, "num_classes": 2}
    reals = {
        "nms_score_threshold": 0.1,
        "nms_iou_threshold": 0.5,
        **{f"{axis}_scale": 10.0 for axis in "yxhw"},
    }
    options = options_of(**numbers, **reals)
    make.op("CUSTOM", [boxes, scores, anchors], results, custom=Custom(code=DETECTION, options=options))
    make.inputs(boxes, scores)
    make.outputs(*results)
    with pytest.raises(CodegenError) as told:
        import_tflite(make.build(), "m.tflite")
    assert "results of shapes [10], [10], [10], [10] are no boxes" in str(told.value)
    assert "help: state [1, 10, 4], [1, 10], [1, 10], [1] in the file" in str(told.value)
