"""A built folder as a package of another build system.

In: a folder of `codegen build` and its report. Out: the files of the package. Nothing is planned or measured
here. Start with `package_forms`.
"""

from codegen.packages.contents import Package, PackageFiles, read_package
from codegen.packages.package_forms import FORMS

__all__ = ["FORMS", "Package", "PackageFiles", "read_package"]
