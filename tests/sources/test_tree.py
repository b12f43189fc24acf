from __future__ import annotations

from pathlib import Path

import pytest

from bwlint.sources import disk
from bwlint.sources.tree import checkout_folder, module_name, package_root, project_folder


def test_package_root(tmp_path: Path) -> None:
    deep = tmp_path / "src/p/q"
    deep.mkdir(parents=True)
    for folder in (deep, deep.parent):
        (folder / "__init__.py").touch()
    assert package_root(str(deep / "a.py")) == str(tmp_path / "src")
    assert package_root(str(deep / "__init__.py")) == str(tmp_path / "src")
    assert package_root(str(tmp_path / "src/a.py")) == str(tmp_path / "src")


@pytest.mark.parametrize(
    ("path", "root", "name"),
    [
        ("/r/a.py", "/r", "a"),
        ("/r/p/q/a.pyi", "/r", "p.q.a"),
        ("/r/p/__init__.py", "/r", "p"),
        ("/r/p/__init__.py", "/r/", "p"),
        ("/p/a.py", "/", "p.a"),
    ],
)
def test_module_name(path: str, root: str, name: str) -> None:
    assert module_name(path, root) == name


def test_a_module_outside_of_the_root_has_no_name() -> None:
    with pytest.raises(ValueError, match="not below"):
        module_name("/root2/a.py", "/root")


def test_a_checkout_holds_the_projects_in_it(tmp_path: Path) -> None:
    inner = tmp_path / "tests" / "extension"
    inner.mkdir(parents=True)
    (inner / "setup.py").touch()
    assert project_folder(str(inner)) == checkout_folder(str(inner)) == str(inner)
    (tmp_path / ".git").mkdir()
    disk.forget()
    assert project_folder(str(inner)) == str(inner)
    assert checkout_folder(str(inner)) == str(tmp_path)


def test_a_checkout_that_is_a_package_has_nothing_to_do_with_what_lies_beside_it(tmp_path: Path) -> None:
    checkout = tmp_path / "kit"
    (checkout / "nodes").mkdir(parents=True)
    (checkout / ".git").mkdir()
    for folder in (checkout, checkout / "nodes"):
        (folder / "__init__.py").touch()
    assert package_root(str(checkout / "nodes" / "a.py")) == str(checkout)
    assert package_root(str(checkout / "a.py")) == str(checkout)


def test_a_tree_without_its_git_folder_is_known_by_its_workflows(tmp_path: Path) -> None:
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    assert project_folder(str(workflows)) == str(tmp_path)
