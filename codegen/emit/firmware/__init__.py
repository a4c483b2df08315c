"""Files around a model: the runtime's that it needs, build files, start-up, linker script, test link.

In: a board and its programs. Out: files of the folder. Start with `folder_files`.
"""
