"""The work of the commands that take paths: options in, an exit code out."""
