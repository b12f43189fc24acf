"""Errors that readers raise."""


class ReadError(Exception):
    """A file that its own language's tools would not read; the message is the reason."""


class NestedTooDeep(ReadError):
    """More stack is needed than there is."""


class LimitError(ReadError):
    """A file that may be well, and is more than bwlint reads."""
