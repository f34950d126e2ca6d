"""The engine on a GPU, with the same bits as on the CPU.

PyTorch stores, sorts and moves the columns; Triton kernels search them.
"""
