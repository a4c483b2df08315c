"""codegen.toml: found, read within limits, its tables checked with all mistakes at once.

In: a path. Out: defaults for flags, and rules. Start with `project_file`.
"""
