"""`python -m bwlint` is `bwlint`.

It imports nothing from the current folder, where the scanned tree may have a `math/` or a `json.py`. What Python itself
imports before it comes here may still come from there, without -P.
"""

# ruff: noqa: E402, PTH100, PTH109, PTH120

import os
import sys

_here, _own = os.getcwd(), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Python puts it in front for -m. What bwlint itself was imported from is trusted already.
if sys.path and sys.path[0] in ("", _here) and _here != _own:
    del sys.path[0]

from bwlint.cli import main

if __name__ == "__main__":
    main()
