"""What goes wrong, told to people: codes, messages, exit codes.

A user's mistake is always a `CodegenError` holding every message at once; anything else that
escapes is a bug in this program (exit 1).
"""

from codegen.errors.message import CodegenError, ExitCode, Message, Messages, listed
from codegen.errors.words import in_bytes

__all__ = ["CodegenError", "ExitCode", "Message", "Messages", "in_bytes", "listed"]
