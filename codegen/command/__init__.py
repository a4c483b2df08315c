"""Parts of a verb: flags made of the option table, files that are checked, tables and errors on a terminal.

In: words, variables and codegen.toml. Out: `Options`. Start with `flags.model_flags`.
"""
