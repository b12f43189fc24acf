"""`bwlint plan`: compare ways to split a model over GPUs, by bandwidth and memory. It reads no file."""
