"""Neural networks on bare-metal boards: a model file in, planned plain C out."""

__version__ = "0.1.0"
