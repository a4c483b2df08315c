"""Work of the verbs, once a command line is known to be sound: what is imported here is the whole chain.

In: options and paths that were checked. Out: an exit code, and what people read. Start with `model_work`.
"""
