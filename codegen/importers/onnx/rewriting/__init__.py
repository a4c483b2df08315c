"""Nodes that become others, or numbers, before any is translated.

In: a node, and what is known of its inputs. Out: its results where they follow from the file (`folding`),
the nodes of the function that it stands for (`functions`), or the node as opset 7 has it (`older`).
"""
