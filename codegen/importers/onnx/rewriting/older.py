"""Nodes of opset 6 whose definition changed in opset 7, as opset 7 has them."""

from codegen.importers.onnx.file.reader import BROADCASTING
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused

CHANGED = 7
"""The opset that changed them."""


def as_of_seven(site: Site) -> Site:
    """The node with its inputs as opset 7 reads them; what it says besides is checked and forgotten."""
    if site.opset >= CHANGED or site.node.domain:
        return site
    op = site.node.op
    if op in BROADCASTING and site.integer("broadcast", 0):
        return _aligned(site)
    if op == "Gemm":
        site.integer("broadcast", 0)
    if op in ("BatchNormalization", "Dropout") and not site.integer("is_test", 0):
        raise Refused("E301", "training is not supported", "export the model for inference (eval())")
    if op == "PRelu":
        return _by_channel(site)
    return site


def _aligned(site: Site) -> Site:
    """The second value's axes lie at those of the first from attribute `axis` on, else at its last ones."""
    second, rank = site.value(1), len(site.value(0).shape)
    first = site.integer("axis", rank - len(second.shape))
    behind = rank - site.axis(first, rank) - len(second.shape) if rank and second.shape else 0
    if behind < 0:
        raise Refused("E303", f"{list(second.shape)} does not fit {rank} dimensions from {first} on")
    return site.reading({1: site.steps.reshape(second, (*second.shape, *(1,) * behind))})


def _by_channel(site: Site) -> Site:
    """A slope for all, or one a channel, which is axis 1."""
    slope, rank = site.value(1), len(site.value(0).shape)
    if len(slope.shape) != 1 or slope.shape == (1,) or rank < 2:
        return site
    return site.reading({1: site.steps.reshape(slope, (*slope.shape, *(1,) * (rank - 2)))})
