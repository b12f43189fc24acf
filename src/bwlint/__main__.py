"""`python -m bwlint` is `bwlint`."""

from bwlint.cli import main

if __name__ == "__main__":
    main()
