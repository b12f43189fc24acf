"""Where the index lies: in a folder that only the user can write, or nowhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bwlint.commands import cache
from bwlint.index import place
from bwlint.index.store import Store


def make_file(path: Path) -> None:
    path.write_text("")


def link_elsewhere(path: Path) -> None:
    (path.parent / "elsewhere").mkdir(mode=0o700)
    path.symlink_to("elsewhere")


def open_to_all(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file": (make_file, "is something else"),
    "a link": (link_elsewhere, "is something else"),
    "a folder that others write": (open_to_all, "others can write"),
}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(place.VARIABLE, str(tmp_path))
    return tmp_path / "bwlint-index"


@pytest.mark.parametrize("name", REFUSED)
def test_a_folder_that_is_not_the_users_alone_is_not_used(name: str, own: Path) -> None:
    make, reason = REFUSED[name]
    make(own)
    with pytest.raises(place.Nowhere, match=reason):
        place.prepared()
    store = Store()
    store.put(b"a", b"1")
    assert store.get(b"a") is None
    store.close()


def test_a_folder_of_another_user_is_not_used(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.prepared()
    monkeypatch.setattr(os, "geteuid", lambda: own.stat().st_uid + 1)
    with pytest.raises(place.Nowhere, match="another user"):
        place.prepared()


def test_a_file_that_others_write_is_not_used(own: Path) -> None:
    file = Path(place.prepared())
    file.write_text("")
    file.chmod(0o666)
    with pytest.raises(place.Nowhere, match="others can write"):
        place.prepared()


def test_root_makes_nothing_in_a_folder_of_a_user(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(own.parent, 1234, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(place.Nowhere, match="another user"):
        place.prepared()
    assert not own.exists()


@pytest.mark.parametrize("home", ["/proc/nothing", "/dev/null", "/sys/kernel"])
def test_where_nothing_can_be_made_nothing_is_kept(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(place.VARIABLE, home)
    with pytest.raises(place.Nowhere):
        place.prepared()
    assert "nothing is kept" in cache.info()


def test_the_users_cache_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(place.VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert Path(place.chosen()).is_relative_to(tmp_path)
    assert Path(place.chosen()).name == "bwlint"


def test_info_and_clean(own: Path) -> None:
    assert cache.clean() == "nothing was kept\n"
    store = Store()
    store.put(b"a", b"1")
    store.close()
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert cache.info().startswith(f"{own}\n")
    assert "1 entries" in cache.info()
    assert cache.clean() == f"removed {own}\n"
    assert not own.exists()
