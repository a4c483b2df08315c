"""Search: decides kernels, devices, order and memory plan together."""

from codegen.search.names import identifier
from codegen.search.search import Choices, check, search

__all__ = ["Choices", "check", "identifier", "search"]
