"""`bwlint trace`: what a program that the user names ran on the GPU.

It is run with a collector in each of its processes that uses CUDA. What that writes is read here, and put beside what
was asked for (`choices`) and beside findings (`marks`).
"""
