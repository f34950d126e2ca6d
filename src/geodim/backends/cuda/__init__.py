"""The engine on a GPU: PyTorch holds, sorts and moves the columns, Triton kernels search them; the same bits."""
