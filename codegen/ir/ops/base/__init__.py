"""What the families of operators share: attribute sets, TFLite's prepared numbers, rules, windows, effort.

In: types and attributes of one call. Out: checked operands, integer parameters, the taps of a window.
Start with `attrs`; a family imports what it needs from here, never from another family.
"""
