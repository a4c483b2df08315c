"""Writing the folder: whole or not at all, with the user's files kept.

In: files as text. Out: the published folder. Start with `whole_folder`, then `publishing`.
"""
