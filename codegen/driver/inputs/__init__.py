"""What the user gives beside the model: cases, pools of an application, names, output files.

In: paths and words. Out: checked values. Start with `cases`.
"""
