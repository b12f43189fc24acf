"""What rooms hand each other: expressions, facts of files and of binaries, findings. It computes nothing."""
