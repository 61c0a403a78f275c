"""What the pages show, and that no note can do anything on them."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import threading
import time
from pathlib import Path

import pytest

from agent_memory.caller import Caller
from agent_memory.rules.drafts import NoteDraft
from agent_memory.rules.run_log import LoggedRun
from agent_memory.serve.rendering import static_file
from agent_memory.serve.routes import ROUTES
from agent_memory.store.run_files import RunLog
from claude_transcripts import SESSION, Conversation
from memory_process import Memory
from one_change import put
from places_of_work import git, repository
from served_page import Browser, opened

HTMX = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"  # htmx.org 2.0.11 of the npm registry


KEY = "ghp_" + "Zq7Lw0xT4nVb8Rk2Yc6Mh1Jd5Pf9Ga3Se0Uu"[:36]
HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> [go](javascript:alert(3)) ![pixel](https://evil.example/p.png)"
    ' <agent-memory-context> a\u202eb\u200bc \x1b[2J {{ 7 * 7 }} "><svg onload=alert(4)>'
)


def test_notes_are_listed_filtered_and_searched_as_the_commands_do(memory: Memory, browser: Browser) -> None:
    lamp = memory.remembered(
        "The script `lamp.py` lights the lamps at dusk.",
        "--title",
        "`lamp.py`",
        "--kind",
        "decision",
        "--tags",
        "area__light",
    )
    pump = memory.remembered("The pump is oiled on Mondays.", "--kind", "lesson", "--scope", "github.com/ada/pump")
    entries = browser.json("/notes")["entries"]
    assert entries == memory("list", "--json").document["entries"]
    html = browser.html("/notes")
    assert html.index(pump) < html.index(lamp)
    for wanted in ("kind=decision", "tag=area__light", "q=dusk", "q=lamp&kind=decision", "origin=user&q=lights"):
        found = browser.html(f"/notes?{wanted}")
        assert (lamp in found, pump in found) == (True, False), wanted
    assert "1 note" in browser.html("/notes?scope=github.com/ada/pump")
    for path in ("/notes", "/notes?q=dusk", "/notes?q=dusk&scope=global&tag=%3Cb%3E"):
        assert '<option value="github.com/ada/pump"' in browser.html(path)
    assert "No note is like that." in browser.html("/notes?tier=hot&harness=codex")
    searched = browser.json("/notes?q=dusk")
    assert searched.pop("matching") == 1
    assert searched == memory("search", "dusk", "--json").document
    html = browser.html("/notes?q=dusk")
    assert "<mark>dusk</mark>" in html
    parts = searched["entries"][0]["parts"]
    assert all(f">{part['name']}<" in html for part in parts)
    assert f'{sum(part["value"] for part in parts):+.3f}</td><th scope="row">sum' in html
    assert browser.json("/notes?kind=wish", 400)["error"]["message"].startswith(
        "kind is 'wish', expected one of decision"
    )


def test_of_many_notes_fifty_are_shown_at_a_time(memory: Memory, browser: Browser) -> None:
    store = opened(memory.home).store
    for number in range(99):
        put(store, f"Note {number} {'of a long name ' * 9}", at_ms=number)
    first, second = browser.html("/notes?kind=fact"), browser.html("/notes?kind=fact&page=2")
    assert (first.count('class="row"'), second.count('class="row"')) == (50, 49)
    assert 'href="?kind=fact&amp;page=2"' in first
    assert browser.html("/notes?page=99").count('class="row"') == 49
    browser.json("/notes?page=-1", 400)

    page, now = browser.html("/now"), browser.json("/now")
    told, left = len(now["entries"]), len(now["leftOutBecause"])
    assert (told > 0, told + left) == (True, 99)
    assert page.count('<li><a href="/notes/') == told + 50
    assert f"{left - 50} more note" in page


def test_a_note_is_shown_with_its_versions_links_deliveries_and_reasons(memory: Memory, browser: Browser) -> None:
    first = memory.remembered("Lamps are lit at dusk.")
    second = memory.remembered(f"The harbour is dark; see [[{first}]] and **mind the step**.")
    assert memory("edit", first, "--body", "Lamps are lit at dawn.").code == 0
    assert memory("read", first).code == 0
    assert memory("inject", "--session", "s1", "--harness", "codex").code == 0
    html = browser.html(f"/notes/{first}")
    for words in ("You wrote it.", "-Lamps are lit at dusk.", "+Lamps are lit at dawn.", "1 read", "codex, command"):
        assert words in html.replace("&#39;", "'"), words
    assert f'href="/notes/{second}"' in html
    assert "<strong>mind the step</strong>" in (other := browser.html(f"/notes/{second}"))
    assert f'href="/notes/{first}"' in other
    document = browser.json(f"/notes/{first}")
    assert document["note"]["body"] == "Lamps are lit at dawn."
    assert [each["harness"] for each in document["deliveries"]] == ["codex"]
    assert [each["id"] for each in document["links"]["incoming"]] == [second]
    assert document["why"]["saidBy"] == "You wrote it."
    assert "commits" not in document["why"], "git takes long to find them in a large store"


def test_acts_on_a_note_are_those_of_the_commands(memory: Memory, browser: Browser) -> None:
    id = memory.remembered("Lamps are lit at dusk.")
    page = browser.submit(f"/notes/{id}/pin")
    assert (f"Pinned {id}" in page, "<code>memory unpin</code>" in page) == (True, True)
    assert memory.notes()[0]["pinned"] is True
    browser.submit(f"/notes/{id}/unpin")
    seen = browser.json(f"/notes/{id}")["contentHash"]
    page = browser.submit(
        f"/notes/{id}/edit", hash=seen, title="Lamps", tags="area__light", kind="lesson", body="At dawn.\r\nNot dusk."
    )
    assert f"Changed {id}" in page
    (note,) = memory.notes()
    assert (note["title"], note["tags"], note["kind"]) == ("Lamps", ["area__light"], "lesson")
    assert note["body"] == "At dawn.\nNot dusk."
    assert "Bring back the text before" in page
    browser.submit(f"/notes/{id}/restore")
    assert memory.notes()[0]["body"] == "Lamps are lit at dusk."
    assert browser.act(f"/notes/{id}/edit", 409, hash=seen, body="Too late.")["error"]["code"] == "entry-changed"
    late = {"token": browser.page.form_token, "hash": seen, "body": "<b>Too</b> late."}
    assert "&lt;b&gt;Too&lt;/b&gt; late." in browser.client.post(f"/notes/{id}/edit", data=late).text
    assert browser.act(f"/notes/{id}/edit", 400, body="Of which version?")["error"]["message"] == "hash is missing."
    assert "Archived" in browser.submit(f"/notes/{id}/archive")
    assert id in browser.html("/notes?archived=1")
    assert id not in browser.html("/notes")
    assert "Restored" in browser.submit(f"/notes/{id}/restore")
    assert browser.act(f"/notes/{id}/praise", 400)["error"]["code"] == "usage"


def test_a_person_adds_a_note_and_moves_it_to_another_project(memory: Memory, browser: Browser) -> None:
    page = browser.submit("/notes", body="Lamps are lit\r\nat dusk.", tags="area__light", scope="github.com/ada/lamp")
    assert "Remembered: Lamps are lit" in page
    (note,) = memory.notes()
    assert (note["origin"], note["scope"], note["kind"]) == ("user", "github.com/ada/lamp", "fact")
    assert (note["tags"], note["body"]) == (["area__light"], "Lamps are lit\nat dusk.")
    assert "It is stored already" in browser.submit("/notes", body=note["body"], scope="github.com/ada/lamp")
    seen = browser.json(f"/notes/{note['id']}")["contentHash"]
    assert "Changed" in browser.submit(f"/notes/{note['id']}/edit", hash=seen, scope="global")
    assert memory.notes()[0]["scope"] == "global"
    assert "expected global" in browser.act("/notes", 400, body="Ropes.", scope="../x")["error"]["message"]
    assert browser.act("/notes", 400, body=" ")["error"]["message"] == "body is missing."


PAGES = ("/", "/projects", "/notes", "/runs", "/sessions", "/now", "/figures", "/figures/use", "/health")


def test_a_hostile_note_does_nothing_on_any_page(memory: Memory, browser: Browser) -> None:
    id = memory.remembered(HOSTILE, "--tags", "<b>x")
    memory.remembered("👩‍👩‍👧‍👦" * 200)
    memory("edit", id, "--title", HOSTILE, "--body", "Now it is another.")
    (file,) = memory.root.glob(f"topics/*{id}.md")
    file.write_text(file.read_text().replace("Now it is another.", f"{HOSTILE}\n\n    {HOSTILE}\n\n{'x' * 8_000}"))
    memory("inject", "--session", "<script>s", "--harness", "codex")
    paths = [*PAGES, f"/notes/{id}", "/notes?q=alert"]
    paths += [f"/notes?{name}=%3Cscript%3E" for name in ("q", "tag", "scope")]
    paths += ["/sessions/%3Cscript%3Es", "/now?prompt=%3Cscript%3E", "/now?directory=%3Cscript%3E", "/%3Cscript%3E"]
    shown = 0
    for path in paths:
        html = browser.client.get(path).text
        body = html.partition("<body>")[2]
        for live in ("<script", "<img", "<svg onload", "onerror=alert(2)>", 'href="javascript', 'src="http', "<agent-"):
            assert live not in body, (path, live)
        assert not {"\u202e", "\x1b", "\u200b"} & set(body.partition("<textarea")[0]), path
        assert "49" not in body.partition("7 * 7")[2][:40]
        shown += "&lt;script&gt;" in body
    assert shown >= 8  # it is there, as text
    assert "⟦U+202E⟧" in browser.html(f"/notes/{id}")
    assert HOSTILE in browser.json(f"/notes/{id}")["note"]["body"]


def test_what_is_edited_keeps_what_cannot_be_seen(memory: Memory, browser: Browser) -> None:
    id = memory.remembered("Placeholder.")
    (path,) = (memory.root / "topics").iterdir()
    path.write_text(path.read_text().rpartition("Placeholder.")[0] + "a\u200bb <b> & “c”")
    area = browser.html(f"/notes/{id}").partition("<textarea")[2].partition(">\n")[2].partition("</textarea>")[0]
    assert area == "a\u200bb &lt;b&gt; &amp; “c”"


def test_a_secret_note_is_on_no_page(memory: Memory, browser: Browser) -> None:
    open_one = memory.remembered("The vault is in the cellar.")
    secret = memory.remembered(f"The vault opens with 4711-0815; see [[{open_one}]].", "--sensitivity", "secret")
    for path in (*PAGES, "/notes?q=vault", f"/notes/{open_one}", "/now?prompt=vault+cellar"):
        for answer in (browser.html(path), json.dumps(browser.json(path))):
            assert not any(word in answer for word in (secret, "4711", "opens with")), path
    assert open_one in browser.html("/notes?q=vault")
    for act in ("", "/archive", "/edit", "/pin"):
        refused = browser.act(f"/notes/{secret}{act}", 403, "POST" if act else "GET", hash="x", body="x")
        assert refused["error"]["code"] == "entry-protected"
        assert "4711" not in str(refused)
    assert secret in memory("list", "--json").out


def test_what_a_run_did_with_a_note_that_is_secret_now_is_on_no_page(home: Path) -> None:
    memory = Memory(home)
    memory.captured("Sesame", "The gate word is glockenspiel.")
    assert memory("consolidate").code == 0
    (note,) = memory.notes()
    browser = Browser(home)
    (item,) = browser.json("/?since=last")["items"]
    edited = {"act": "edit", "hash": item["notes"][0]["contentHash"]}
    browser.act("/decide", key=item["key"], body="The gate word is glockenspiel two.", since="last", **edited)
    assert memory("inject", "--session", "s9", "--harness", "codex").code == 0
    assert "glockenspiel" in browser.html(f"/runs/{browser.json('/runs')['runs'][0]['run']}")
    assert memory("edit", note["id"], "--sensitivity", "secret").code == 0
    runs = [each["run"] for each in browser.json("/runs")["runs"]]
    paths = ["/", "/?since=last", "/runs", "/sessions/s9", "/health", "/api/memory/vault"]
    for path in (*paths, *(f"/runs/{run}{undo}" for run in runs for undo in ("", "/undo"))):
        for kind in ("text/html", "application/json"):
            answer = browser.client.get(path, headers={"Accept": kind}).text
            assert not [word for word in ("glockenspiel", "Sesame") if word in answer], (path, kind)
    assert len(runs) == 2
    for words in (("log",), ("diff",), ("undo", "--dry-run")):
        assert "Sesame" not in memory(*words).out
    browser.close()


def test_a_run_is_shown_with_its_diff_and_undone_once_its_reverse_was_shown(home: Path) -> None:
    memory = Memory(home)
    memory.captured("Lamps", "Lamps are lit at dusk.")
    assert memory("consolidate").code == 0
    browser = Browser(home)
    (run,) = browser.json("/runs")["runs"]
    html = browser.html(f"/runs/{run['run']}")
    assert "+Lamps are lit at dusk." in html
    ahead = browser.html(f"/runs/{run['run']}/undo")
    assert "-Lamps are lit at dusk." in ahead
    assert '<span class="removed">----' in ahead, "a line of frontmatter is no head of a diff"
    assert len(memory.notes()) == 1
    after = browser.submit(f"/runs/{run['run']}/undo")
    assert memory.notes() == []
    assert "Undo this" in after
    assert browser.act(f"/runs/{run['run']}/undo", 409)["error"]["code"] == "undo-refused"
    browser.act(f"/runs/{browser.json('/runs')['runs'][0]['run']}/undo")
    assert memory.titles() == ["Lamps"]
    assert browser.json("/runs/nothing", 404)["error"]["code"] == "run-not-found"

    memory.remembered("The lamp is on the third floor.")
    memory.configure(llm={"command": "sh -c 'cat > /dev/null'"})
    assert memory("defrag").code == 50
    failed = browser.json("/runs")["runs"][0]
    for path in ("/runs", f"/runs/{failed['run']}"):
        html = browser.html(path).replace("&#39;", "'")
        assert f"failed: {failed['error']}" in html
        assert "failed failed" not in " ".join(re.sub("<[^>]*>", " ", html).split())
    assert browser.html("/health").count("last run failed") == 1
    browser.close()


def test_a_run_is_shown_with_what_its_calls_cost(memory: Memory, browser: Browser) -> None:
    memory.captured("Lamps", "Lamps are lit at dusk.")
    assert memory("consolidate").code == 0  # by the built-in extractor
    note = {"title": "Nets", "body": "Nets are mended.", "kind": "fact", "tags": ["area__nets"]}
    memory.configure(llm={"command": memory.answered({"entries": [note]})}, storage={"autoCommit": False})
    memory.captured("Nets", "Nets are mended.")
    assert memory("consolidate").code == 0
    asked, free = (f"/runs/{each['run']}" for each in browser.json("/runs")["runs"])
    spent, today = browser.json(asked)["spent"], memory("status", "--json").document["spend"]
    assert spent.items() <= today.items()
    assert f"1 call of the agent command sent {spent['promptChars']:,} and returned" in browser.html(asked)
    assert (browser.json(free)["spent"]["calls"], "call of the agent" in browser.html(free)) == (0, False)


def test_a_run_that_is_at_work_makes_acts_wait_for_another_time(home: Path) -> None:
    memory = Memory.unrecorded(home)
    memory.captured("Lamps", "Lamps are lit at dusk.")
    memory("consolidate")
    browser = Browser(home)
    run = browser.json("/runs")["runs"][0]["run"]
    with opened(home).locks.run():
        assert "busy" in browser.act(f"/runs/{run}/undo", 503)["error"]["code"]
        assert "That did not work" in browser.client.get(f"/runs/{run}/undo").text
        assert run in browser.html("/runs")
    browser.act(f"/runs/{run}/undo")
    browser.close()


def test_a_session_is_followed_from_its_capture_to_the_reads_of_its_notes(home: Path) -> None:
    memory = Memory.unrecorded(home)
    memory.configure(llm={"command": memory.answered()}, storage={"autoCommit": False})
    talk = Conversation()
    talk.user(f"Remember that lamps are lit at dusk. My key is {KEY}")
    memory.session(SESSION, talk.data)
    browser = Browser(home)
    (line,) = browser.json("/sessions")["sessions"]
    assert (line["sessionId"], line["captures"], line["notes"]) == (SESSION, 1, [])
    assert SESSION[:13] in browser.html("/sessions")
    html = browser.html(f"/sessions/{SESSION}")
    assert "lamps are lit at dusk" in html
    assert KEY not in html
    assert f"claude --resume {SESSION}" in html
    assert "It waits in the inbox" in html
    assert "Nothing is known about it" in browser.html("/sessions/none")
    memory.configure(projects={"exclude": ["/**"]}, storage={"autoCommit": False})
    html = browser.html(f"/sessions/{SESSION}")
    assert ("dusk" in html, "Memory stays out of this project" in html) == (False, True)
    browser.close()


def test_a_note_of_a_branch_says_so_until_it_is_merged(home: Path) -> None:
    memory = Memory.unrecorded(home)
    lamp = repository(home / "lamp", "git@github.com:me/lamp")
    git(lamp, "switch", "-q", "-c", "fix/lamp")
    git(lamp, "commit", "-q", "--allow-empty", "-m", "a try")
    browser, talk = Browser(home, lamp), Conversation()
    talk.user("Remember: the lamp listens on port 9090.", cwd=str(lamp), gitBranch="fix/lamp")
    path = memory.session(SESSION, b"")
    path.write_bytes(talk.data)
    assert (
        memory("capture", "--harness", "claude-code", "--session", SESSION, "--transcript", str(path), cwd=lamp).code
        == 0
    )
    assert memory("consolidate", cwd=lamp).code == 0
    (note,) = memory.notes()
    for is_merged in (False, True):
        for page in ("/notes", "/notes?q=port", f"/notes/{note['id']}"):
            assert ("branch fix/lamp, not found in main" in browser.html(page)) is not is_merged, page
        git(lamp, "switch", "-q", "main")
        git(lamp, "merge", "-q", "fix/lamp")
        assert memory("consolidate", cwd=lamp).code == 0
    browser.close()


def test_what_was_said_is_searched_as_the_command_does_and_cannot_act(home: Path) -> None:
    memory = Memory.unrecorded(home)
    browser = Browser(home)
    talk = Conversation().exchange(f"Is the zebra lamp lit? {HOSTILE}", answer="The zebra lamp is lit at dusk.")
    memory.session(SESSION, talk.data)
    assert memory("consolidate").code == 0
    assert browser.json("/sessions?q=dusk") == memory("search", "--sessions", "dusk", "--json").document
    html = browser.html("/sessions?q=dusk")
    assert all(
        each in html for each in ("<mark>dusk</mark>", "the agent: ", "the person: Is the", "turn 2", "claude --resume")
    )
    assert "<script>alert" not in html + browser.html("/sessions")
    assert "Is the zebra lamp lit?" in browser.html("/sessions"), "its first words"
    assert "Nothing like that was said" in browser.html("/sessions?q=giraffe")
    assert 'name="q"' in browser.html("/sessions")
    browser.close()


def test_what_would_be_told_now_is_what_the_hook_tells_and_is_recorded_nowhere(memory: Memory) -> None:
    project = memory.work_tree()
    said = memory("remember", "--json", "--kind", "convention", "Lamps are lit at dusk.", cwd=project)
    id = said.document["id"]
    elsewhere = memory.remembered("Pumps are oiled.", "--scope", "github.com/ada/pump")
    browser = Browser(memory.home, project)
    before = memory.root / "runs" / "deliveries"
    document = browser.json(f"/now?directory={project}&harness=codex")
    assert not before.exists()
    event = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(project), "source": "startup"}
    hook = memory("inject", "--harness", "codex", "--hook", data=json.dumps(event).encode(), cwd=project)
    assert document["text"] == hook.document["hookSpecificOutput"]["additionalContext"]
    assert document["entries"] == [id]
    html = browser.html(f"/now?directory={project}&prompt=What+about+the+harbour%3F")
    assert "on this prompt" in html
    assert "1 more note" in html
    assert elsewhere not in html
    assert "is no directory" in browser.json("/now?directory=/nowhere", 400)["error"]["message"]

    asking = "&prompt=When+are+lamps+lit%3F"
    for harness, at, told in (("codex", asking, 1), ("cursor", asking, 0), ("cursor", "", 1), ("goose", "", 0)):
        document = browser.json(f"/now?directory={project}&harness={harness}{at}")
        assert (len(document["entries"]), bool(document["text"])) == (told, bool(told)), harness
        assert ("No hook tells" in (document["nothingBecause"] or "")) == (not told)
    assert "No hook tells cursor anything with a prompt." in browser.html(
        f"/now?directory={project}&harness=cursor{asking}"
    )
    memory.configure(projects={"exclude": ["github.com/ada/*"]})
    document = browser.json(f"/now?directory={project}")
    assert (document["text"], document["entries"], document["leftOutBecause"]) == ("", [], [])
    assert "projects.exclude" in document["nothingBecause"]
    memory.configure()
    assert memory("pause").code == 0
    assert "Memory is paused until" in browser.html(f"/now?directory={project}{asking}")
    browser.close()


def test_figures_and_health_are_those_of_stats_status_and_doctor(memory: Memory, browser: Browser) -> None:
    memory.remembered("Lamps are lit at dusk.")
    (memory.root / "topics/broken.md").write_text("---\nid: [\n---\nx\n")
    assert browser.json("/figures?days=30") == memory("stats", "--days", "30", "--json").document
    figures = browser.html("/figures")
    assert all(
        each in figures
        for each in (
            "<rect",
            '<p class="scale">at most 1 a day</p>',
            f"<span>{time.strftime('%Y-%m-%d', time.gmtime())}</span>",
        )
    )
    assert browser.json("/figures/use?days=30") == memory("stats", "--use", "--days", "30", "--json").document
    assert "No session was told a note" in browser.html("/figures/use")
    document = browser.json("/health")
    told = [each["code"] for each in memory("doctor", "--json").document["symptoms"]]
    assert [each["code"] for each in document["doctor"]["symptoms"]] == told
    assert document["status"]["unreadable"] == ["topics/broken.md"]
    assert "unreadable-note" in browser.html("/health")
    (memory.root / "topics/empty -- id__a1b2c3.md").write_text("---\nid: id__a1b2c3\ntitle: Empty\ncreatedAt: 1\n---\n")
    assert 'href="/notes/id__a1b2c3">topics/empty' in browser.html("/health")
    os.unlink(memory.root / "topics/empty -- id__a1b2c3.md")
    os.chmod(memory.root / "topics/broken.md", 0o644)
    (memory.root / "topics/worse.md").write_text("---\nid: [\n")
    assert "<code>topics/worse.md" in browser.html("/health")
    os.unlink(memory.root / "topics/worse.md")
    assert "1 repair done" in browser.submit("/health/repair")
    browser.json("/figures?days=0", 400)


def test_a_store_that_cannot_be_written_is_shown_and_an_act_says_why(
    memory: Memory, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = memory.remembered("Lamps are lit at dusk.")
    written = os.open

    def read_only(path: str, flags: int, *others: int, **named: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and str(memory.root) in os.path.abspath(str(path)):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return written(path, flags, *others, **named)

    monkeypatch.setattr(os, "open", read_only)
    for path in (*PAGES, f"/notes/{id}", "/notes?q=dusk"):
        browser.html(path)
    refused = browser.act(f"/notes/{id}/archive", 503)
    assert "Read-only file system" in refused["error"]["message"]
    assert [each["id"] for each in browser.json("/notes")["entries"]] == [id]


def test_every_route_is_described_and_what_is_sent_as_it_is_is_what_was_vendored(browser: Browser) -> None:
    document = browser.json("/openapi.json")
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(each.method, each.path.replace(":path", "")) for each in ROUTES}
    assert hashlib.sha256(static_file("htmx.min.js")).hexdigest() == HTMX
    for name in ("htmx.min.js", "page.js", "page.css", "icon.svg"):
        assert browser.client.get(f"/static/{name}").content == static_file(name)
    for path in ("/static/htmx.LICENSE", "/static/../routes.py", "/static/%2e%2e/routes.py", "/nowhere"):
        browser.html(path, 404)
    assert browser.client.delete("/notes").status_code == 405


# -- deciding ---------------------------------------------------------------------------------------------------------


def from_outside(memory: Memory, *texts: str) -> list[str]:
    """The ids of notes that an MCP client wrote."""
    service = opened(memory.home).called_by(Caller(client="figma")).service
    return [service.remember(NoteDraft(each)).unwrap().stored.meta.id for each in texts]


def test_what_waits_is_decided_by_a_button_and_each_decision_can_be_undone(memory: Memory, browser: Browser) -> None:
    kept, rejected, edited, later = from_outside(
        memory, "Lamps are lit.", "Pumps are oiled.", "Ropes are coiled.", "Nets are mended."
    )
    waiting = {each["notes"][0]["id"]: each for each in browser.json("/")["items"]}
    assert waiting.keys() == {kept, rejected, edited, later}
    assert all("unless you vouch for it" in each["reason"] for each in waiting.values())
    page = browser.submit("/decide", key=waiting[kept]["key"], act="keep")
    assert ("Kept Lamps are lit" in page, "Undo this" in page) == (True, True)
    again = {"token": browser.page.form_token, "key": waiting[kept]["key"], "act": "keep", "about": "Lamps are lit."}
    late = browser.client.post("/decide", data=again)
    assert (late.status_code, "“Lamps are lit.” was changed by someone else" in late.text) == (409, True)
    run = browser.act("/decide", key=waiting[rejected]["key"], act="reject")["run"]
    seen = waiting[edited]["notes"][0]["contentHash"]
    browser.submit("/decide", key=waiting[edited]["key"], act=f"edit {edited}", hash=seen, body="Ropes are cut.")
    browser.submit("/decide", key=waiting[later]["key"], act="later")
    notes = {each["id"]: each for each in memory.notes()}
    assert rejected not in notes
    assert browser.json(f"/notes/{kept}")["note"]["promotedBy"] == "person"
    assert notes[edited]["body"] == "Ropes are cut."
    assert [each["notes"][0]["id"] for each in browser.json("/")["items"]] == [later]
    browser.submit(f"/runs/{run}/undo")
    assert {each["notes"][0]["id"] for each in browser.json("/")["items"]} == {rejected, later}
    assert browser.act("/decide", 400, key=waiting[later]["key"], act="praise")["error"]["code"] == "usage"
    assert browser.act("/decide", 409, key="unknown", act="keep")["error"]["code"] == "entry-changed"
    refused = LoggedRun(
        "2026-01-01T00-00-00.000Z_000000",
        "defrag",
        (now := time.time_ns() // 1_000_000),
        now,
        "completed",
        "x",
        dropped=("too long",),
    )
    RunLog(memory.root).put_report(refused).unwrap()
    (item,) = browser.json("/?kind=refused")["items"]
    assert "not possible here" in browser.act("/decide", 400, key=item["key"], act="edit", body="x")["error"]["message"]


def test_of_two_notes_that_disagree_one_replaces_the_other(memory: Memory, browser: Browser) -> None:
    first = memory.remembered("The request timeout of the tide client is 30 seconds.")
    second = memory.remembered("The request timeout of the tide client is 45 seconds.")
    html = browser.html("/?kind=contradiction")
    assert ("<strong>Contradiction</strong>" in html, ".." in html) == (True, False)
    assert "30 seconds" in html
    assert "45 seconds" in html
    (item,) = browser.json("/?kind=contradiction")["items"]
    page = browser.submit("/decide", key=item["key"], act=f"supersede {second}", kind="contradiction")
    assert ("Nothing waits for you." in page, "Superseded The request" in page, ".." in page) == (True, True, False)
    assert [each["id"] for each in memory.notes()] == [second]
    assert first in browser.html("/notes?archived=1")


def test_many_are_decided_at_once_by_reason_and_twenty_tabs_decide_once(memory: Memory, browser: Browser) -> None:
    from_outside(memory, *(f"Basin {letter} is {letter * 5} metres deep." for letter in "abcdefgh"))
    memory.remembered("Lamps are lit at dusk.")
    keys = [each["key"] for each in browser.json("/?kind=external")["items"]]
    assert "All 8 on this page" in browser.html("/?kind=external")
    statuses: list[int] = []

    def reject() -> None:
        sent = {"key": keys, "act": "reject"}
        answer = browser.client.post("/decide", json=sent, headers={"Accept": "application/json"})
        statuses.append(answer.status_code)

    tabs = [threading.Thread(target=reject) for _ in range(20)]
    for each in tabs:
        each.start()
    for each in tabs:
        each.join()
    assert sorted(statuses) == [200, *[409] * 19]
    assert memory.titles() == ["Lamps are lit at dusk."]
    assert len([each for each in browser.json("/runs")["runs"] if each["machine"] == "review"]) == 1


def test_projects_are_paused_excluded_and_renamed(memory: Memory) -> None:
    project = memory.work_tree()
    memory("remember", "Lamps are lit at dusk.", cwd=project)
    browser = Browser(memory.home, project)
    scope = "github.com/ada/lamp"
    assert f"{scope}</a>" in browser.html("/projects")

    def switch() -> str:
        (found,) = browser.json("/projects")["projects"]
        return str(found["switch"])

    for act, state in (("pause", "paused"), ("resume", ""), ("exclude", "excluded"), ("include", "")):
        assert scope in browser.submit(f"/projects/{act}", project=scope)
        assert switch() == state
    page = browser.submit("/projects/pause", hours="2")
    assert ("Memory is paused everywhere." in page, "Memory is paused until" in page) == (True, True)
    assert "everywhere" not in browser.submit("/projects/resume")
    page = browser.submit("/projects/rename", project=scope, new="github.com/ada/lantern")
    assert "1 note moved." in page
    assert memory.notes()[0]["scope"] == "github.com/ada/lantern"
    assert browser.act("/projects/rename", 400, project=scope, new="x")["error"]["code"] == "usage"
    for new in ("not a key", "../elsewhere"):
        refusal = browser.act("/projects/merge", 400, project="github.com/ada/lantern", new=new)["error"]
        assert f"'{new}' is not a scope" in refusal["message"]
    assert browser.act("/projects/burn", 400)["error"]["code"] == "usage"
    browser.close()


def test_programs_for_the_twelve_routes_of_inosx_find_them(memory: Memory, browser: Browser) -> None:
    api = "/api/memory"
    stored = browser.act(f"{api}/vault", agentId="dev", category="decisions", content="We use SSE.", tags=["sse"])[
        "entry"
    ]
    id = stored["id"]
    assert (stored["agentId"], stored["category"], stored["tags"]) == ("dev", "decisions", ["topic__sse"])
    assert browser.json(f"/notes/{id}")["note"]["origin"] == "external"
    browser.act(api, content="The lamp is red.", agentId="dev")
    listed = browser.json(f"{api}/vault")
    assert (listed["agents"], listed["counts"]["decisions"]) == (["dev"], 1)
    assert [each["id"] for each in browser.json(f"{api}/vault?agentId=dev&category=decisions")["entries"]] == [id]
    assert browser.json(f"{api}/vault?agentId=qa&category=decisions")["entries"] == []
    browser.act(f"{api}/vault", method="PUT", id=id, content="We use WebSockets.")
    own = memory.remembered("We use polling.")
    assert browser.act(f"{api}/vault", method="PUT", id=own, content="We use pigeons.")["entry"]["id"] == own
    assert browser.json(f"/notes/{own}")["note"]["origin"] == "external"
    restored = memory("restore", own, "--json").document
    assert (restored["body"], restored["origin"]) == ("We use polling.", "user")
    memory.configure(review={"before": True})
    memory.captured("Held", "The held word is bassoon.")
    assert memory("consolidate").code == 0
    assert "bassoon" not in str(browser.json(f"{api}/vault?category=lessons")) + str(
        browser.json(f"{api}/search?q=bassoon")
    )
    (hit,) = browser.json(f"{api}/search?q=websockets&agentId=dev&limit=5")["results"]
    assert (hit["entry"]["content"], hit["score"] > 0) == ("We use WebSockets.", True)
    assert browser.json(f"{api}/compact")["lastCompaction"] is None
    assert browser.act(f"{api}/compact")["lastCompaction"]["machine"] == "defrag"
    assert browser.act(f"{api}/migrate") == {"migrated": [], "skipped": []}
    talk = Conversation(started_ms=time.time_ns() // 1_000_000 - 60_000)
    talk.user("Light the lamps at dusk.")
    memory.session(SESSION, talk.data)
    assert browser.json(f"{api}?agentId=claude-code")["conversations"][0]["chatId"] == SESSION
    assert browser.json(f"{api}/checkpoint?chatId={SESSION}")["messages"][0]["text"] == "Light the lamps at dusk."
    message = browser.act(f"{api}/checkpoint", 400, messages=[{"role": "user", "text": "x"}])["error"]["message"]
    assert "memory capture" in message
    assert browser.act(f"{api}/vault?id={id}", method="DELETE")["deleted"] == id


def test_a_note_that_is_held_back_can_be_looked_at_and_approved(memory: Memory, browser: Browser) -> None:
    memory.configure(review={"before": True})
    memory.captured("Lamps", "Lamps are lit at dusk.")
    assert memory("consolidate").code == 0
    (item,) = browser.json("/?kind=held-back")["items"]
    id = item["notes"][0]["id"]
    assert "Lamps are lit at dusk." in browser.html(f"/notes/{id}")
    assert id not in browser.html("/notes")
    browser.submit("/decide", key=item["key"], act="keep")
    assert id in browser.html("/notes")
