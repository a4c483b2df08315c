"""What users say of values in codegen.toml, as plain values: `[[place]]` and `[[state]]`.

In: nothing. Out: rules that name values. `cli.config` reads them, passes and search follow them.
"""
