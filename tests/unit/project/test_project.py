from __future__ import annotations

from pathlib import Path

import pytest

from perdure.project import GLOBAL, name_of_remote, project_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def repository(folder: Path, *, remote: str = "", name: str = "origin") -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    text = "[core]\n\tbare = false\n"
    if remote:
        text += f'[remote "{name}"]\n\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/{name}/*\n'
    (git / "config").write_text(text + '[branch "main"]\n\tremote = origin\n')
    return folder


def found(folder: Path) -> tuple[str, str]:
    project = project_of(str(folder))
    return project.name, project.source


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:acme/shop.git", "shop"),
        ("https://example.org/acme/shop", "shop"),
        ("https://user:pw@example.org/acme/shop.git/", "shop"),
        ("ssh://git@example.org:2222/acme/shop.git", "shop"),
        ("C:\\repos\\shop.git", "shop"),
        ("../shop.git", "shop"),
        ("host:shop", "shop"),
        ("", ""),
    ],
)
def test_a_remote_names_the_repository(url: str, name: str) -> None:
    assert name_of_remote(url) == name


@pytest.mark.requirement("HOOK-PROJECT-01")
def test_the_remote_names_the_project_whatever_the_checkout_is_called(tmp_path: Path) -> None:
    top = repository(tmp_path / "checkout-7", remote="git@github.com:acme/shop.git")
    (top / "packages" / "web").mkdir(parents=True)
    assert found(top) == ("shop", "remote")
    assert found(top / "packages" / "web") == ("shop", "remote")
    assert found(top / "packages" / "not there yet") == ("shop", "remote")


def test_origin_comes_before_other_remotes_and_any_remote_before_the_folder(tmp_path: Path) -> None:
    top = repository(tmp_path / "a", remote="https://example.org/me/fork.git", name="fork")
    assert found(top) == ("fork", "remote")
    with (top / ".git" / "config").open("a") as file:
        file.write('[remote "origin"]\n\turl = "https://example.org/acme/shop.git"\n')
    assert found(top) == ("shop", "remote")


@pytest.mark.requirement("HOOK-PROJECT-01")
def test_a_worktree_is_the_project_of_its_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    private = top / ".git" / "worktrees" / "fix"
    private.mkdir(parents=True)
    (private / "HEAD").write_text("ref: refs/heads/fix\n")
    (private / "commondir").write_text("../..\n")
    tree = tmp_path / "elsewhere" / "shop-fix"
    tree.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {private}\n")
    assert found(top) == ("shop", "git")
    assert found(tree) == ("shop", "git")


@pytest.mark.requirement("HOOK-PROJECT-01")
def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", remote="https://example.org/acme/shop.git")
    modules = top / ".git" / "modules" / "libs" / "money"
    modules.mkdir(parents=True)
    (modules / "HEAD").write_text("ref: refs/heads/main\n")
    (top / "libs" / "money").mkdir(parents=True)
    (top / "libs" / "money" / ".git").write_text("gitdir: ../../.git/modules/libs/money\n")
    assert found(top / "libs" / "money") == ("money", "git")
    (modules / "config").write_text('[remote "origin"]\nurl = https://example.org/acme/money-lib.git\n')
    assert found(top / "libs" / "money") == ("money-lib", "remote")
    assert found(top) == ("shop", "remote")


def test_a_bare_repository_with_worktrees_names_them_all(tmp_path: Path) -> None:
    bare = tmp_path / "shop.git"
    private = bare / "worktrees" / "main"
    private.mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (private / "commondir").write_text("../..")
    tree = tmp_path / "main"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {private}")
    assert found(tree) == ("shop", "git")


@pytest.mark.requirement("HOOK-PROJECT-01")
def test_without_git_the_top_of_the_project_names_it(tmp_path: Path) -> None:
    (tmp_path / "tool" / "src" / "deep").mkdir(parents=True)
    (tmp_path / "tool" / "pyproject.toml").touch()
    assert found(tmp_path / "tool" / "src" / "deep") == ("tool", "marker")
    (tmp_path / "notes").mkdir()
    assert found(tmp_path / "notes") == ("notes", "folder")


def test_a_home_folder_is_nobodys_project(home: Path) -> None:
    assert found(home) == (GLOBAL, "none")
    assert found(Path("/")) == (GLOBAL, "none")


def test_a_home_under_version_control_does_not_swallow_what_is_below_it(home: Path) -> None:
    repository(home, remote="https://example.org/me/dotfiles.git")
    (home / "work").mkdir()
    assert found(home / "work") == ("work", "folder")
    assert found(home) == ("dotfiles", "remote")


@pytest.mark.requirement("HOOK-PROJECT-01")
def test_a_perdure_toml_has_the_last_word(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", remote="https://example.org/acme/shop.git")
    (top / "web").mkdir()
    (top / ".perdure.toml").write_text('project = "Ladenkasse"\n[hooks]\ncapture = false\n', encoding="utf-8")
    project = project_of(str(top / "web"))
    assert (project.name, project.source, project.root) == ("Ladenkasse", "file", str(top))
    assert (project.recalls, project.captures) == (True, False)


@pytest.mark.parametrize("text", ["project = ", "\x00\xff", "project = 7", 'project = "  "'])
def test_a_perdure_toml_that_says_nothing_useful_changes_nothing(tmp_path: Path, text: str) -> None:
    top = repository(tmp_path / "shop")
    (top / ".perdure.toml").write_text(text, encoding="latin-1")
    assert found(top) == ("shop", "git")


def test_a_link_to_a_folder_is_the_project_of_the_folder(tmp_path: Path) -> None:
    repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(tmp_path / "shop")
    assert found(tmp_path / "link") == ("shop", "git")


@pytest.mark.requirement("I4-PROJECT-02")
def test_the_nearest_perdure_toml_up_to_the_repositorys_top_decides(tmp_path: Path) -> None:
    (tmp_path / ".perdure.toml").write_text('project = "not mine"\ncapture = false\n', encoding="utf-8")
    top = repository(tmp_path / "mono", remote="https://example.org/acme/mono.git")
    (top / "apps" / "till" / "src").mkdir(parents=True)
    (top / "apps" / "till" / ".perdure.toml").write_text('project = "till"\n', encoding="utf-8")
    assert found(top) == ("mono", "remote")
    assert project_of(str(top)).captures
    assert found(top / "apps" / "till" / "src") == ("till", "file")
    (top / ".perdure.toml").write_text('project = "all of it"\n', encoding="utf-8")
    assert found(top / "apps") == ("all of it", "file")
    assert found(top / "apps" / "till") == ("till", "file")


@pytest.mark.parametrize("text", ["capture = false\nrecall = false\n", "[hooks]\ncapture = false\nrecall = false\n"])
def test_a_project_can_stop_hooks_at_the_files_top_and_in_its_table(tmp_path: Path, text: str) -> None:
    top = repository(tmp_path / "shop")
    (top / ".perdure.toml").write_text(text, encoding="utf-8")
    project = project_of(str(top))
    assert (project.name, project.captures, project.recalls) == ("shop", False, False)
