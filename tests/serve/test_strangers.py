"""Who may ask the page at all (P22)."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from agent_memory.serve.application import MAX_BODY_BYTES, Page
from agent_memory.serve.routes import ROUTES
from memory_process import Memory
from served_page import ADDRESS, PORT, Browser, address_of, form_token, opened


@pytest.fixture
def id(memory: Memory) -> str:
    return memory.remembered("Lamps are lit at dusk.")


def test_the_token_lets_in_one_browser_once_with_a_cookie_that_nobody_else_gets(home: Path, id: str) -> None:
    page = Page(opened(home), PORT, ROUTES)
    first, second = (TestClient(page, base_url=ADDRESS) for _ in range(2))
    assert first.get("/notes").status_code == 401  # no cookie
    assert first.get("/?token=guessed").status_code == 401
    welcome = first.get(page.address)
    assert welcome.status_code == 200
    cookie = welcome.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert page.entrance not in welcome.text
    assert id in first.get("/notes").text
    assert first.get(page.address, follow_redirects=False).headers["location"] == "/"  # opened again: still let in
    late = second.get(page.address)
    assert late.status_code == 401
    assert "opens one browser" in late.text
    assert first.get("/notes").status_code == 200
    other = Page(opened(home), PORT, ROUTES)  # the server of the next day knows neither token nor cookie
    stale = TestClient(other, base_url=ADDRESS, cookies=first.cookies)
    assert stale.get("/notes").status_code == stale.get(page.address).status_code == 401
    tab = stale.get(page.browser_address)
    assert (tab.status_code, "Open the address that `memory serve` prints" in tab.text) == (421, True)
    linked = second.get("/notes", headers={"Sec-Fetch-Site": "cross-site"})
    assert (linked.status_code, "Links on other pages do not lead in here" in linked.text) == (401, True)


def test_the_cookie_of_a_browser_goes_to_no_other_server_of_the_loopback_address(home: Path, id: str) -> None:
    page = Page(opened(home), PORT, ROUTES)
    client = TestClient(page, base_url=ADDRESS)
    assert client.get(page.browser_address).status_code == 200
    own = page.browser_address.partition("/?")[0]
    assert id in client.get(f"{own}/notes").text
    assert "cookie" in client.build_request("GET", f"{own}/notes").headers
    for host in ("127.0.0.1", "localhost", "memory-000000000000.localhost"):
        assert "cookie" not in client.build_request("GET", f"http://{host}:3000/").headers
    assert client.get(f"{ADDRESS}/notes").status_code == 401
    assert client.get("/notes", headers={"Host": f"memory-000000000000.localhost:{PORT}"}).status_code == 421
    assert own not in Page(opened(home), PORT, ROUTES).browser_address


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": f"memory.example:{PORT}"}, 421),
        ({"Host": "127.0.0.1:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:3000"}, 403),
        ({"Cookie": f"memory-{PORT}=guessed"}, 401),
        ({"Cookie": 'memory="; =;'}, 401),
    ],
)
def test_strangers_get_nothing(browser: Browser, id: str, headers: Mapping[str, str], status: int) -> None:
    form = {"token": browser.page.form_token}
    for answer in (
        browser.client.get(f"/notes/{id}", headers=headers),
        browser.client.post(f"/notes/{id}/archive", data=form, headers=headers),
    ):
        assert answer.status_code == status
        assert "Lamps" not in answer.text
    assert browser.json(f"/notes/{id}")["note"]["archived"] is False


def test_what_a_form_of_another_page_could_send_needs_the_token_of_ours(browser: Browser, id: str) -> None:
    for sent in ({}, {"token": "guessed"}):
        refused = browser.client.post(f"/notes/{id}/archive", data={**sent, "body": "What I typed"})
        assert refused.status_code == 403
        assert all(words in refused.text for words in ("Load the page again", "What I typed"))
    assert browser.act("/notes/x/archive", 404)["error"]["code"] == "entry-not-found"
    for kind in ("", "text/plain", "text/plain; application/json", "multipart/form-data; boundary=x"):
        answer = browser.client.post(f"/notes/{id}/archive", content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code == 403, kind
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for path in (f"/notes/{id}/archive", "/api/memory/vault"):  # so that a page of another site is not let send JSON
        answer = browser.client.options(path, headers={**asked, "Access-Control-Request-Headers": "content-type"})
        assert (answer.status_code, [each for each in answer.headers if "access-control" in each]) == (403, [])
        assert browser.client.post(path, json={}, headers={"Origin": "https://evil.example"}).status_code == 403
        assert TestClient(browser.page, base_url=ADDRESS).post(path, json={}).status_code == 401
    assert browser.json(f"/notes/{id}")["note"]["archived"] is False
    token = form_token(browser.html(f"/notes/{id}"))
    assert browser.client.post(f"/notes/{id}/archive", data={"token": token}).status_code == 200
    assert browser.json(f"/notes/{id}")["note"]["archived"] is True
    for origin in ({}, {"Origin": ADDRESS}):
        stored = browser.client.post("/api/memory/vault", json={"content": f"Nets {origin}."}, headers=origin)
        changed = {"id": stored.json()["entry"]["id"], "content": f"Ropes {origin}."}
        assert browser.client.put("/api/memory/vault", json=changed, headers=origin).status_code == 200
        assert browser.client.delete("/api/memory/vault", params={"id": changed["id"]}).status_code == 200


def test_every_answer_forbids_scripts_of_others_frames_and_caches(browser: Browser, id: str) -> None:
    stranger = TestClient(browser.page, base_url=ADDRESS)
    for answer in (browser.client.get("/notes"), browser.client.get("/nowhere"), stranger.get("/notes")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
    for path in ("/notes", f"/notes/{id}", "/now", "/figures", "/health"):
        html = browser.html(path)
        assert not any(word in html for word in (" style=", "<style", " onclick", "<script>", "http://www", "//cdn"))


def test_bodies_and_rates_are_bounded(browser: Browser, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    long = {"token": browser.page.form_token, "body": "x" * MAX_BODY_BYTES}
    assert browser.client.post(f"/notes/{id}/edit", data=long).status_code == 413

    def chunks() -> Iterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 65_536 + 2):
            yield b"x" * 65_536

    assert browser.client.post(f"/notes/{id}/edit", content=chunks()).status_code == 400
    for broken in (b"{", b"[1]", b'{"a": ' + b"[" * 100_000, b"\xff\xfe"):
        sent = browser.client.post(f"/notes/{id}/edit", content=broken, headers={"Content-Type": "application/json"})
        assert sent.status_code == 400, broken[:20]


# -- `memory serve` as a process ---------------------------------------------------------------------------------------


LIMIT_SECONDS = 60


def test_it_serves_who_has_the_address_until_a_signal_comes(memory: Memory) -> None:
    id = memory.remembered("Lamps are lit at dusk.")
    process = memory.start("serve", "--no-open", "--port", "0")
    try:
        host, _, query = address_of(process).removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection("127.0.0.1", int(host.partition(":")[2]), timeout=LIMIT_SECONDS)

        def asked(path: str, cookie: str = "") -> tuple[http.client.HTTPResponse, str]:
            connection.request("GET", path, headers={"Cookie": cookie, "Host": host})
            answer = connection.getresponse()
            return answer, answer.read().decode()

        assert asked("/notes")[0].status == 401
        cookie = asked(f"/{query}")[0].headers["set-cookie"].partition(";")[0]
        assert id in asked("/notes", cookie)[1]
        connection.close()
        taken = memory("serve", "--no-open", "--port", host.partition(":")[2])
        assert (taken.code, taken.err.count("\n")) == (2, 1)
        assert "cannot be used" in taken.err
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", int(host.partition(":")[2])), 1)
    finally:
        process.terminate()
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.wait(), err) == (0, b"")


def test_an_agent_cannot_start_it(memory: Memory) -> None:
    done = memory("serve", "--no-open", "--port", "0", environ={"CLAUDE_CODE_CHILD_SESSION": "1"})
    assert (done.code, "Only you can run `memory serve`" in done.err) == (2, True)
