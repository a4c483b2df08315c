"""What <model>.h says: provenance, pools, inputs, outputs, figures.

In: a program. Out: the fields of the header's template. Start with `header`.
"""
