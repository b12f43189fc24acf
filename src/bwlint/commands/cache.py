"""`bwlint cache`: show the index of earlier runs and its size, or delete it."""

from __future__ import annotations

from pathlib import Path

import click

from bwlint.commands.terminal import failure
from bwlint.index.store import LIMIT, Nowhere, Store, own_folder, prepared
from bwlint.model.escape import visible


def info() -> str:
    """Where the index is and its size, or why there is none."""
    folder = visible(own_folder())
    try:
        prepared()
    except Nowhere as error:
        return f"{folder}\nnothing is kept: {visible(str(error))}\n"
    store = Store()
    size, count = store.size(), store.count()
    store.close()
    return f"{folder}\n{size / 1024**2:.1f} MiB of {LIMIT // 1024**2} MiB, {count:,} entries\n"


def clean() -> str:
    """Remove the index; raises ClickException where it cannot be."""
    import shutil

    folder = Path(own_folder())
    if not folder.is_symlink() and not folder.exists():
        return "nothing was kept\n"
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise failure(OSError(f"cannot remove {error.filename or folder}: {error.strerror}")) from None
    return f"removed {visible(str(folder))}\n"


def run(action: str) -> None:
    click.echo(clean() if action == "clean" else info(), nl=False)
