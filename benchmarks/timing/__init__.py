"""What `speed.py` is made of: programs that are timed, the trees that they are given, figures, a plot."""
