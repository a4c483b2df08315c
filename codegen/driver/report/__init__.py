"""report.json as data: what was planned, built and measured. Sentences for people live in `cli`.

In: programs, images, runs. Out: the fields of the report. Start with `single`.
"""
