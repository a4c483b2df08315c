"""Reports as pages and tables: the verbs `report`, `compare`, `export` and `sweep`, and `--report` of others.

In: report.json, or what a verb has found. Out: files. Start with `viewing`.
"""
