"""The command line: verbs, flags, what people read. Results go to stdout, progress to a terminal's stderr."""

from codegen.cli.main import main

__all__ = ["main"]
