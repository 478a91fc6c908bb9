"""The kernels in NumPy, one file a kernel, by the arithmetic of spec/kernels.md.

They take and give float32 ([KERN-3] is the backend's), use elementwise operations, comparisons
and selections only, and loop over what is summed: no BLAS, no reduction whose order NumPy may
choose. So a row's bits depend on that row, and are the same on every CPU [KERN-22].
"""
