"""Templates of packages, filled."""

from codegen.api import fill_template


def fill(template: str, **values: object) -> str:
    """The text that `template`, a path below `templates/tools/packages`, makes of `values`."""
    return fill_template(f"tools/packages/{template}", **values)
