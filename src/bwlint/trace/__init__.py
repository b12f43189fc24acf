"""`bwlint trace`: record what a program ran on the GPU.

It is run with a collector in each of its processes that uses CUDA. What that writes is read here, and put beside what
was asked for (`choices`) and beside findings (`marks`).
"""
