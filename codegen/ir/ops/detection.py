"""DETECTION_POST_PROCESS: from what a detector says of boxes to the few that count."""

from collections.abc import Iterator

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import DetectionAttrs
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand, present
from codegen.ir.types import DType, TensorType

COORDINATES = 4
"""Numbers of a box: y, x, height, width as a detector gives them; top, left, bottom, right in the result."""
_ARGUMENTS = ("boxes", "scores", "anchors")


class DetectionPostProcess(Op):
    """DETECTION_POST_PROCESS(boxes [1, n, 4 or more], scores [1, n, classes or one more], anchors [n, 4]).

    The result is one row of numbers: `rows` boxes, their classes, their scores, and how many there are; zeros
    where there are fewer. If scores have one class more than `classes`, the first one is the background.
    Arguments of int8 mean real numbers by their scales.
    """

    name, short = "DETECTION_POST_PROCESS", "detections"
    attrs_type = DetectionAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """Six numbers a detection, and their count."""
        detection = narrow(attrs, DetectionAttrs)
        need_count(args, 3, 3)
        boxes, scores, anchors = (operand(args, index, what).shape for index, what in enumerate(_ARGUMENTS))
        count = boxes[1] if len(boxes) == 3 else 0
        classes = scores[-1] if scores else 0
        if count < 1 or boxes[0] != 1 or boxes[2] < COORDINATES:
            raise ValueError(f"boxes of shape {list(boxes)}, need [1, boxes, {COORDINATES} or more]")
        if anchors != (count, COORDINATES):
            raise ValueError(f"anchors of shape {list(anchors)}, need {[count, COORDINATES]}")
        if scores != (1, count, classes) or not 0 <= classes - detection.classes <= 1:
            raise ValueError(
                f"scores of shape {list(scores)}, need {[1, count, detection.classes]} or one more"
            )
        return ((COORDINATES + 2) * detection.rows + 1,)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int8 or float32 arguments, a float32 result, and numbers that make sense."""
        super().check(attrs, args, result)
        need_elements(result)
        need_dtype(result, "result", DType.FLOAT32)
        for index, what in enumerate(_ARGUMENTS):
            need_dtype(operand(args, index, what), what, DType.INT8, DType.FLOAT32)
        detection = narrow(attrs, DetectionAttrs)
        counts = (detection.classes, detection.most, detection.most_of_class, detection.classes_of_box)
        if min(counts) < 1:
            raise ValueError("numbers of classes and of detections have to be positive")
        if not 0 < detection.overlap <= 1:
            raise ValueError(
                f"an intersection over union of {detection.overlap:g}, need above 0 and at most 1"
            )
        least = detection.most * (1 if detection.by_class else detection.classes_of_box)
        if detection.rows < least:
            raise ValueError(f"the result has room for {detection.rows} detections, there may be {least}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: detection_postprocess.cc of tflite-micro; classes of one box as tflite-runtime has them."""
        detection = narrow(attrs, DetectionAttrs)
        encoded, scores, anchors = (
            _real(present(values, index, what), operand(args, index, what))
            for index, what in enumerate(_ARGUMENTS)
        )
        boxes, scores = corners(encoded[0], anchors, detection), scores[0]
        scores = scores[:, scores.shape[1] - detection.classes :]
        detections = list(
            _by_class(boxes, scores, detection) if detection.by_class else _by_box(boxes, scores, detection)
        )
        rows = np.zeros((detection.rows, COORDINATES + 2), np.float32)
        for row, box, class_ in detections:
            rows[row] = (*boxes[box], class_, scores[box, class_])
        count = len(detections) // (
            1 if detection.by_class else min(detection.classes_of_box, detection.classes)
        )
        parts = (rows[:, :COORDINATES].reshape(-1), rows[:, COORDINATES], rows[:, COORDINATES + 1], [count])
        return np.concatenate(parts).astype(np.float32).reshape(result.shape)


def _real(data: np.ndarray, type_: TensorType) -> np.ndarray:
    if type_.dtype is DType.FLOAT32:
        return data
    return (data.astype(np.float32) - np.float32(type_.zero_point)) * np.float32(type_.scale)


def corners(encoded: np.ndarray, anchors: np.ndarray, detection: DetectionAttrs) -> np.ndarray:
    """Top, left, bottom, right of every box: anchors moved and stretched, in float64, rounded at the end."""
    places, extents = anchors[:, :2].astype(np.float64), anchors[:, 2:].astype(np.float64)
    said = encoded[:, :COORDINATES].astype(np.float64) / np.array(detection.scales, np.float32).astype(
        np.float64
    )
    with np.errstate(over="ignore", invalid="ignore"):
        centres = (said[:, :2] * extents + places).astype(np.float32)
        halves = (0.5 * np.exp(said[:, 2:]) * extents).astype(np.float32)
        return np.concatenate([centres - halves, centres + halves], 1)


def _by_class(
    boxes: np.ndarray, scores: np.ndarray, detection: DetectionAttrs
) -> Iterator[tuple[int, int, int]]:
    """Row, box and class of the best detections of all classes; of equal ones the first class, then box."""
    candidates = [
        (-float(scores[box, class_]), class_, place, box)
        for class_ in range(detection.classes)
        for place, box in enumerate(_best(boxes, scores[:, class_], detection, detection.most_of_class))
    ]
    for row, (_, class_, _, box) in enumerate(sorted(candidates)[: detection.most]):
        yield row, box, class_


def _by_box(
    boxes: np.ndarray, scores: np.ndarray, detection: DetectionAttrs
) -> Iterator[tuple[int, int, int]]:
    """Row, box and class of the best boxes, each with its best classes."""
    for row, box in enumerate(_best(boxes, scores.max(1), detection, detection.most)):
        classes = np.argsort(-scores[box], kind="stable")[: detection.classes_of_box]
        for column, class_ in enumerate(classes.tolist()):
            yield row * detection.classes_of_box + column, box, class_


def _best(boxes: np.ndarray, scores: np.ndarray, detection: DetectionAttrs, most: int) -> Iterator[int]:
    """Boxes by falling scores, without those that overlap a better one too much."""
    left = np.flatnonzero(scores >= np.float32(detection.score))
    while left.size and most:
        place = int(scores[left].argmax())
        best, left, most = int(left[place]), np.delete(left, place), most - 1
        left = left[~(_overlaps(boxes[best], boxes[left]) > np.float32(detection.overlap))]
        yield best


def _overlaps(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of a box with others, in float32; 0 where one has no area."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    starts, stops = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    sides = np.maximum(stops - starts, np.float32(0))
    common = sides[:, 0] * sides[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((area <= 0) | (areas <= 0), np.float32(0), common / (area + areas - common))


OPERATORS: tuple[Op, ...] = (DetectionPostProcess(),)
