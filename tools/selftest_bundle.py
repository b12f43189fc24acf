"""Build the cases of the self-test into a bundle, without a GPU, or run a bundle on the GPU that is there.

python tools/selftest_bundle.py build 9.0 selftest-9.0.zip [--toolkit FOLDER]
python tools/selftest_bundle.py run selftest-9.0.zip receipt.json [--only NAME]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import ptxas
import toolkit as toolkits

from bwlint.chips.devices import chip
from bwlint.confirm import gpu
from bwlint.confirm.selftest import bundle as bundles
from bwlint.confirm.selftest.run import NoDevice, Result, SelfTest, document, run
from bwlint.confirm.world import Toolkit, World


def found(folder: str | None) -> Toolkit:
    """The toolkit of a folder that pip filled, or of BWLINT_CUDA."""
    if folder is not None:
        there = toolkits.find_in(Path(folder))
        if there is None:
            raise SystemExit(f"no CUDA toolkit in {folder}")
    else:
        there = toolkits.find()
    assembler = ptxas.Ptxas(there.programs / "ptxas")
    nvcc = there.programs / "nvcc"
    return Toolkit(assembler.path, nvcc if nvcc.is_file() else None, assembler.version, "PyPI")


def build(arguments: argparse.Namespace) -> int:
    opened = bundles.write(
        chip(arguments.chip), found(arguments.toolkit), Path(arguments.bundle), jobs=os.cpu_count() or 1
    )
    for name, why in opened.left_out.items():
        print(f"left out: {name}: {why}", file=sys.stderr)
    print(f"{len(opened.made)} cases for {opened.chip}, {Path(arguments.bundle).stat().st_size} bytes")
    return 0


def tell(result: Result) -> None:
    mark = {True: "agrees", False: "REFUTED", None: "-"}[result.agrees]
    print(
        f"{mark:8}{result.name:36} static {result.static.verdict:8} GPU {result.hardware:8} {result.attempt.reason}",
        flush=True,
    )


def tried(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="bwlint-") as scratch:
        folder = Path(scratch, "bundle")
        try:
            opened = bundles.unpack(Path(arguments.bundle), folder)
        except bundles.BadBundle as error:
            raise SystemExit(str(error)) from None
        devices, why = gpu.devices(folder=Path(scratch))
        world = World(Path(scratch), devices=devices, no_device=why)
        try:
            test = run(opened, world, only=arguments.only, advance=tell)
        except NoDevice as error:
            raise SystemExit(str(error)) from None
    Path(arguments.receipt).write_text(json.dumps(document(test), indent=1) + "\n", encoding="utf-8")
    print(summary(test))
    return 0 if test.all_agree else 1


def summary(test: SelfTest) -> str:
    return (
        f"{test.device.name} ({test.device.capability}), driver {test.kernel_module}: {test.agreed} of"
        f" {len(test.cases)} cases agree, {test.hazards} fail on the GPU, {len(test.refuted)} refuted,"
        f" {len(test.undecided)} undecided"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("build", help="build a bundle, without a GPU")
    making.add_argument("chip", help='such as "9.0"')
    making.add_argument("bundle")
    making.add_argument("--toolkit", help="a folder that pip filled; default: BWLINT_CUDA or site-packages")
    making.set_defaults(do=build)
    running = commands.add_parser("run", help="run a bundle on this machine's GPU")
    running.add_argument("bundle")
    running.add_argument("receipt")
    running.add_argument("--only", default="", help="cases whose names hold this")
    running.set_defaults(do=tried)
    arguments = parser.parse_args()
    done: int = arguments.do(arguments)
    return done


if __name__ == "__main__":
    sys.exit(main())
