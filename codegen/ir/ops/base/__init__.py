"""Parts that families of operators share: attributes, fixed point, prepared numbers, windows, effort.

In: types and attributes of one call. Out: checked operands, integer parameters, the taps of a window.
Start with `attrs`; a family imports what it needs from here, never from another family.
"""
