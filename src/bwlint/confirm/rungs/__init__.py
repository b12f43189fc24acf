"""One module a rung of the ladder.

Each has ``KINDS: frozenset[str]``, the kinds of claims that it tests, and ``attempt(subject, world) -> Attempt``, which
never raises for what is wrong with the subject, a tool or a device: that is a reason.
"""
