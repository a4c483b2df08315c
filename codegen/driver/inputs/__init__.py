"""Everything that the user gives beside the model: cases, an application's pools, names, output files.

In: paths and words. Out: checked values. Start with `cases`.
"""
