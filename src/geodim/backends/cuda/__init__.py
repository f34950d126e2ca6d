"""The engine on a GPU: PyTorch holds and sorts the columns, Triton kernels search them.

So far one sorted column at a time, by `geodim.backends.cuda.solver.DeviceSolver`; nothing calls it yet.
"""
