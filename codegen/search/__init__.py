"""Search: decides kernels, devices, order and memory plan together."""

from codegen.search.attempt import Choices
from codegen.search.fuse import Segment
from codegen.search.names import identifier
from codegen.search.search import check, search

__all__ = ["Choices", "Segment", "check", "identifier", "search"]
