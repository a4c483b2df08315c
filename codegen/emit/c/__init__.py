"""The C language as text: names, literals, comments, and Jinja set up so that a mistake stops.

In: Python values. Out: text that clang-format leaves as it is. Start with `c_text`.
"""
