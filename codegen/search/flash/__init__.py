"""Constants under a limit: what is compressed, what runs with fewer constant bytes, what is staged.

In: a planned program and its constant pools. Out: the same program within the limits. Start with
`flash_limit`.
"""
