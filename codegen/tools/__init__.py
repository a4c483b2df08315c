"""Tools around the core: the report's page, packages, sweeps, labs, the quantiser.

In: files, `codegen.api` and reports. Out: what the verbs of each tool print and write. No tool knows another.
"""
