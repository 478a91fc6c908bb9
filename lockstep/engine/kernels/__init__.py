"""The kernels in Triton, one file a kernel, each with its launcher (spec/kernels.md).

They run on a GPU, and on a CPU in Triton's interpreter, where TRITON_INTERPRET=1 is set before
they are imported. Importing this package imports neither torch nor Triton; its modules do.

What a row's bits could depend on beside the row is fixed in the sources: tiles are constants or
follow from the model's shape, sums have a stated order, nothing is tuned while running, and no
compiled form depends on how many rows there are. `gate` holds the sources to that.
"""
