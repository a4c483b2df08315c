"""What surrounds a model on a board: start-up, linker script, test link, build files.

In: a board and its programs. Out: files of the folder `firmware/`. Start with `board_files`.
"""
