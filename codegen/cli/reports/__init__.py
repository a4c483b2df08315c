"""Reports as pages: the verb `report`, and `--report` of the verbs that make one.

In: report.json, or what a verb has found. Out: files. Start with `verbs`.
"""
