"""What a board offers, as plain values: core, memory regions, counters, flash caches, how its image is run.

In: nothing. Out: `Target`, `Board`, `Region` and their parts, which board files fill and everything else
asks.
Start with `target`; `flash` holds what a part's flash costs.
"""
