"""What an application takes of a build, for builds that no application takes."""

from codegen.report_product import Product, ProductBoard

NO_PRODUCT = Product(
    generator="",
    prefix="",
    sources=(),
    data=(),
    compiler_flags=(),
    level=(),
    models=(),
    board=ProductBoard(title="", memories=(), code_memory="", data_memory="", qemu_machine=None),
)
"""Of builds that only a test or a benchmark makes."""
