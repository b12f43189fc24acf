"""Many sources, each checked in a process of its own: the list, who does it, what is kept of it, and the table."""
