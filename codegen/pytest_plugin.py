"""Fixtures that tools have for users' own tests: the module `pytest_plugin` of each tool that has one.

pytest loads this module in every run of every project that has codegen installed: it imports nothing heavy.
"""

from pathlib import Path

import codegen.tools

pytest_plugins = [
    f"codegen.tools.{file.parent.name}.pytest_plugin"
    for folder in codegen.tools.__path__
    for file in sorted(Path(folder).glob("*/pytest_plugin.py"))
]
"""pytest loads the modules of this list."""
