"""Judge the facts of binaries against chips. This package opens no file."""
