"""IF and WHILE: other subgraphs of a file become operators of the first one, before anything is translated.

In: records of a file. Out: records of one subgraph without IF and WHILE, which loops are left to be one step
each (`codegen.importers.tflite.looping`), and why others that are left are refused. Start with `inlining`;
`known` computes what decides branches and trip counts, `trip_counts` how often a loop runs at most.
"""

from codegen.importers.tflite.control.inlining import InlinedGraph, inlined

__all__ = ["InlinedGraph", "inlined"]
