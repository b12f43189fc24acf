"""Readers: bytes of one language in, facts out. They lower conditions and never evaluate them."""
