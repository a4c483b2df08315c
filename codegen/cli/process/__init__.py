"""The process around a command: its output, and the signals that end it.

In: the process's descriptors and signals. Out: an output that can be dropped, EndedBySignal. Start with
`unwound_by_signals`.
"""
