"""What `make promises` needs: how thoroughly to look, and its figures at the end."""

from __future__ import annotations

import os

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    figures = [text for report in reports for name, text in report.user_properties if name == "figure"]
    if figures:
        terminalreporter.section("figures")
        for text in figures:
            terminalreporter.write_line(str(text))


@pytest.fixture
def every() -> int:
    """Every how many-th fault, cut or moment is tried: PROMISES_EVERY, 1 where nothing is said."""
    return max(1, int(os.environ.get("PROMISES_EVERY", "1")))
