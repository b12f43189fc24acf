"""Kernels of Triton, cut out of a tree and compiled by Triton for a chip that is not there."""
