"""How a compiler is asked about a flagged place: which file, with which options, and what its words say."""
