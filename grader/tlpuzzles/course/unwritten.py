"""How a mistake says that it leaves elements of the output unwritten."""

NEVER_WRITTEN = -1e300
"""The value, in a mistake's float64 output, of elements that a kernel with that mistake never writes. NaN would not do:
a kernel may write that."""
