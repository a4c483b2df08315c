"""Core families: cores, compiler, kernel sets, faults, caches, each fact once.

In: a `Target`. Out: its `CoreFamily`. Start with `family_of` in `families`; `arm` holds the facts.
"""
