"""The page of a store, asked as its browser asks: with the cookie, and the token of its forms."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

from attrs import define, field
from starlette.testclient import TestClient

from agent_memory.app import Memory, open_memory
from agent_memory.serve.application import Page
from agent_memory.serve.routes import ROUTES
from forked_program import RunningCall

LIMIT_SECONDS = 60
PORT = 8738
ADDRESS = f"http://127.0.0.1:{PORT}"


def opened(home: Path, cwd: Path | None = None) -> Memory:
    environ = {"HOME": str(home), "AGENT_MEMORY_ROOT": str(home / "memories")}
    return open_memory(environ, cwd or home, lambda _: None).unwrap()


@define
class Browser:
    """One that was let in."""

    home: Path
    cwd: Path | None = None
    page: Page = field(init=False)
    client: TestClient = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.page = Page(opened(self.home, self.cwd), PORT, ROUTES)
        self.client = TestClient(self.page, base_url=ADDRESS)
        assert self.client.get(f"/?token={self.page.entrance}").status_code == 200

    def close(self) -> None:
        self.client.close()
        self.page.close()

    def html(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        return answer.text

    def json(self, path: str, status: int = 200) -> Any:
        answer = self.client.get(path, headers={"Accept": "application/json"})
        assert answer.status_code == status, answer.text
        return answer.json()

    def act(self, path: str, status: int = 200, method: str = "POST", **fields: object) -> Any:
        """The JSON that an act answers."""
        answer = self.client.request(method, path, json=fields, headers={"Accept": "application/json"})
        assert answer.status_code == status, answer.text
        return answer.json()

    def submit(self, path: str, **fields: str) -> str:
        """The page to which a form leads."""
        answer = self.client.post(path, data={"token": self.page.form_token, **fields})
        assert answer.status_code == 200, answer.text
        return answer.text


def form_token(html: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', html)
    assert found is not None
    return found[1]


def address_of(process: RunningCall) -> str:
    watchdog = threading.Timer(LIMIT_SECONDS, process.kill)
    watchdog.start()
    try:
        return process.stdout.readline().decode().split()[-1]
    finally:
        watchdog.cancel()
