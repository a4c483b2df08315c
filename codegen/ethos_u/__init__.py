"""Command streams of an Ethos-U: their header, what they access, and what they compute.

In: bytes that Vela wrote. Out: the device and its register commands, accesses by command, results on a
functional model of the device. Start with `payload`, then `register_commands` and `functional_model`.
"""
