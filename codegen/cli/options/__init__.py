"""The one table of options: flags, environment, codegen.toml and help are made from it.

In: nothing. Out: click options. Start with `option_table`.
"""
