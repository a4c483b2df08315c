"""A toy file format: networks in the text form of the IR. Start with `model_format`."""
