"""The driver: the only place that knows the whole chain."""
