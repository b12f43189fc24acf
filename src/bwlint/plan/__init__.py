"""`bwlint plan`: how to split a model over GPUs, by what links and memories let through. It reads no file."""
