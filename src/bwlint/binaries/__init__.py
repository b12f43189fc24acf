"""Facts of binaries judged against chips; no file is found here."""
