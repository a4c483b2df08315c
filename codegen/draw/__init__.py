"""Plans for people: the memory map as text, plans and curves as SVG pictures.

In: a program. Out: text. Start with `memory_map`.
"""
