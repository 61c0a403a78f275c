from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.capture.places import is_too_plain
from agent_memory.capture.repository import GLOBAL_SCOPE, chosen_remote, path_scope, remote_scope_key, stated_scope
from agent_memory.redaction.redact import redact_path
from agent_memory.redaction.rule import RULES


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/owner/repo.git", "https://github.com/owner/repo", "https://github.com/owner/repo/",
        "https://GitHub.com:443//owner/repo.git/", "https://user:ghp_secret@github.com/owner/repo.git",
        "https://token@github.com/owner/repo?x=1#y", "http://github.com/owner/repo", "git@github.com:owner/repo.git",
        "github.com:owner/repo", "org-123@GITHUB.COM:/owner/repo.git", "ssh://git@github.com/owner/repo.git",
        "ssh://git@github.com:2222/owner/repo", "SSH://git@github.com/owner/repo",
        "git+ssh://git@github.com/owner/repo", "git://github.com/owner/repo.git", " https://github.com./owner/repo ",
    ],
)  # fmt: skip
def test_every_way_to_write_a_remote_has_one_key(url: str) -> None:
    assert remote_scope_key(url) == "github.com/owner/repo"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://gitlab.example/group/sub/repo.git", "gitlab.example/group/sub/repo"),
        ("https://github.com/Owner/Repo", "github.com/Owner/Repo"),
        ("ssh://git@[2001:db8::1]:22/owner/repo.git", "[2001:db8::1]/owner/repo"),
        ("git@[2001:db8::1]:owner/repo.git", "[2001:db8::1]/owner/repo"),
        ("me@h:~me/repo", "h/~me/repo"),
    ],
)
def test_other_hosts_keep_their_path(url: str, key: str) -> None:
    assert remote_scope_key(url) == key


@pytest.mark.parametrize(
    ("urls", "key"),
    [
        (
            ("ssh://git@ssh.github.com:443/o/r.git", "git@github.com-work:o/r.git", "https://www.github.com/o/r"),
            "github.com/o/r",
        ),
        (("ssh://git@altssh.gitlab.com:443/g/s/r.git", "git@gitlab.com-me:g/s/r"), "gitlab.com/g/s/r"),
    ],
)
def test_the_forms_that_a_host_has_for_one_repository_have_one_key(urls: tuple[str, ...], key: str) -> None:
    assert {remote_scope_key(url) for url in urls} == {key}


@pytest.mark.parametrize(
    "url",
    [
        *("", "   ", "/srv/git/repo.git", "../repo", "./a:b", "file:///srv/git/repo.git", "C:\\repos\\x", "C:/repos/x"),
        *(
            "https://",
            "https://github.com",
            "https://github.com/.git",
            "git@github.com:",
            "codecommit::us-east-1://repo",
        ),
        *("https://github.com/../../etc", "https://github.com/a b/c", "https://h/a\x1b[31m/b", "https://u:p/w@h/o/r"),
        "https://github.com/" + "x" * 600,
    ],
)
def test_what_names_no_repository_on_a_host_has_no_key(url: str) -> None:
    assert remote_scope_key(url) is None


@given(st.text())
def test_no_text_makes_it_crash_and_no_key_could_leave_a_directory(url: str) -> None:
    key = remote_scope_key(url)
    assert key is None or (key.isprintable() and " " not in key and ".." not in key.split("/"))


@pytest.mark.parametrize(
    ("remotes", "url"),
    [
        ((("fork", "git@h:me/p"), ("origin", "git@h:them/p")), "git@h:them/p"),
        ((("origin", "git@h:x/p"), ("origin", "git@mirror:x/p")), "git@h:x/p"),
        ((("a", "git@h:x/p"), ("b", "git@h:y/p")), ""),
        ((), ""),
    ],
)
def test_origin_wins_over_other_remotes_and_of_several_without_it_none(
    remotes: tuple[tuple[str, str], ...], url: str
) -> None:
    assert chosen_remote(remotes) == url


def test_a_path_is_a_key_unless_it_could_stand_in_no_note() -> None:
    assert path_scope("/home/me/my lamp") == "path:/home/me/my lamp"
    odd = {path_scope("/a\nb"), path_scope("/a\nc"), path_scope("/" + "x" * 600)}
    assert len(odd) == 3
    assert all(stated_scope(each) == each != GLOBAL_SCOPE for each in odd)


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("global", "global"),
        (" github.com/ada/lamp ", "github.com/ada/lamp"),
        ("GitHub.com/ada/lamp.git", "github.com/ada/lamp"),
        ("git@github.com:ada/lamp.git", "github.com/ada/lamp"),
        ("https://ada:token@github.com/ada/lamp", "github.com/ada/lamp"),
        ("forge/lamp", "forge/lamp"),
        ("path:/home/ada/my lamp/.git", "path:/home/ada/my lamp/.git"),
    ],
)
def test_a_person_states_a_scope_by_word_key_or_url(text: str, scope: str) -> None:
    assert stated_scope(text) == scope


@pytest.mark.parametrize(
    "text", ["", "gloabl", "Global", "lamp", "../../etc", "path:lamp", "path:/a\u202eb", "two words/x", "file:///x"]
)
def test_what_can_be_no_scope_is_none(text: str) -> None:
    assert stated_scope(text) is None


# -- which scopes are taken as they are, without loading the rules of redaction ----------------------------------------


_KEYWORDS = sorted({keyword for rule in RULES for keyword in rule.keywords})
_PIECES = st.one_of(
    st.sampled_from(_KEYWORDS),
    st.sampled_from(_KEYWORDS).map(str.upper),
    st.text("abcXYZ0189._-/:", min_size=1, max_size=14),
)


@settings(max_examples=300)
@given(st.lists(_PIECES, min_size=1, max_size=8).map("".join))
def test_nothing_that_is_taken_as_it_is_holds_a_secret_p20(scope: str) -> None:
    if is_too_plain(scope):
        assert redact_path(scope) == scope


@pytest.mark.parametrize("scope", ["global", "github.com/owner/repo", "path:/home/me/src/agent_memory/.git"])
def test_a_usual_scope_is_taken_as_it_is(scope: str) -> None:
    assert is_too_plain(scope)


@pytest.mark.parametrize(
    "scope",
    [
        "path:/home/AKIAIOSFODNN7EXAMPL3/.git",
        "path:/home/xoxb-0123456789ab/.git",
        "path:/home/password=hunter22/.git",
        "path:/srv/hooks.zapier.com/hooks/catch/123456/abc123/.git",
    ],
)
def test_what_may_hold_a_secret_is_looked_at(scope: str) -> None:
    assert not is_too_plain(scope)
