"""Kernels of the runtime as a header, a C file and an assembly file of a folder.

In: the programs of a folder, and the C that calls kernels. Out: files, path -> text. Start with
`kernel_files.kernel_files`.
"""
