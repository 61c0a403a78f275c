"""Put in and cut out: what was there stays byte for byte."""

from __future__ import annotations

import tomllib

import pytest

from agent_memory.setup.plan import Member
from agent_memory.setup.settings_edit import EditRefused, cut_toml, put_toml

SERVER = Member(("mcp_servers", "agent-memory"), {"command": "/usr/bin/memory", "args": ["mcp"]}, "/usr/bin/memory")

DOCUMENTS = [
    "",
    "\n",
    "# only a comment\n",
    "# no line end",
    'model = "o3" # why\n',
    'model = "o3"',
    'model = "o3"\r\n\r\n[features]\r\nhooks = true\r\n',
    '[mcp_servers.other]\ncommand = "x"\n\n[features]\nhooks = true\n',
    '[mcp_servers]\n[mcp_servers.other]\ncommand = "x"\n',
    'mcp_servers = { other = { command = "x" } } # inline\nmodel = "o3"\n',
    'mcp_servers.other.command = "x"\n',
    '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say done"\n\n\n',
    'text = """\n[mcp_servers.agent-memory]\ncommand = "not a table"\n"""\n',
    "when = 1979-05-27T07:32:00Z\nodd = nan\nbig = 0xdead_beef\n",
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_what_is_put_in_and_cut_out_leaves_every_byte(text: str) -> None:
    after = put_toml(text, SERVER)
    assert tomllib.loads(after)["mcp_servers"]["agent-memory"] == SERVER.value
    assert cut_toml(after, SERVER, text) == text


@pytest.mark.parametrize("text", [each for each in DOCUMENTS if "mcp_servers =" not in each])
def test_what_was_added_behind_ours_stays(text: str) -> None:
    after = put_toml(text, SERVER) + "\n[mine]\nx = 1\n"
    cut = cut_toml(after, SERVER, text)
    assert "agent-memory" not in tomllib.loads(cut).get("mcp_servers", {})
    assert cut.startswith(text)
    assert cut.endswith("\n[mine]\nx = 1\n")


def test_ours_goes_even_after_somebody_edited_it() -> None:
    before = '# mine\nmodel = "o3"\n'
    after = put_toml(before, SERVER).replace('args = ["mcp"]', 'args = ["mcp", "--verbose"] # louder')
    cut = cut_toml(after, SERVER, before)
    assert tomllib.loads(cut) == {"model": "o3"}
    assert cut.startswith(before)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = ", "value"),
        ('mcp_servers = "x"\n', "mcp_servers is no table"),
        ('[mcp_servers.agent-memory]\ncommand = "another"\n', "is there already"),
        ("\ufeffa = 1\n", "byte order mark"),
        ("a = 1\na = 2\n", "overwrite"),
    ],
)
def test_a_document_that_cannot_hold_ours_is_refused(text: str, words: str) -> None:
    with pytest.raises(EditRefused) as refused:
        put_toml(text, SERVER)
    assert words in str(refused.value)
