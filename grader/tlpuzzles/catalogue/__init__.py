"""Messages of Python, TileLang 0.1.15, TVM, nvcc and CUDA, what they mean and what to do: data, and how it is found.

Nothing here imports torch or TileLang. Tables are tried in their order; the first pattern that is found counts.
"""
