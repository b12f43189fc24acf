"""A standalone program that calls `pick` of a gate case with the device's capability.

Reads {"source": PATH, "capability": [major, minor]} on stdin and writes {"picked": STATEMENT} or {"raised": TYPE,
"text": TEXT} to $BWLINT_ANSWER, with "behind", the statement that `pick` names where it lets the device through.
"""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path


def main() -> None:
    given = json.loads(sys.stdin.read())
    torch, cuda = types.ModuleType("torch"), types.ModuleType("torch.cuda")
    vars(cuda)["get_device_capability"] = lambda device=None: tuple(given["capability"])
    vars(torch)["cuda"] = cuda
    sys.modules.update({"torch": torch, "torch.cuda": cuda})
    space: dict[str, object] = {}
    exec(compile(Path(given["source"]).read_text(encoding="utf-8"), given["source"], "exec"), space)
    answer: dict[str, object] = {"behind": space["behind"]()}  # type: ignore[operator]
    try:
        answer["picked"] = space["pick"]()  # type: ignore[operator]
    except Exception as error:
        answer |= {"raised": type(error).__name__, "text": str(error)}
    os.write(int(os.environ["BWLINT_ANSWER"]), json.dumps(answer).encode())


if __name__ == "__main__":
    main()
