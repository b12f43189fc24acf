"""Data types that all rooms share: expressions, facts, findings, images. It computes nothing."""
