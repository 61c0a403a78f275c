"""Libraries of our own that are loaded into a process before all others (LD_PRELOAD)."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


def compiled(source: Path) -> Path:
    """The library of a C file beside this one, compiled once a process; the test is skipped where that cannot be done."""
    if source not in _libraries:
        compiler = shutil.which("cc")
        if not sys.platform.startswith("linux") or compiler is None:
            pytest.skip(f"{source.name} is preloaded as a library: that takes Linux and a C compiler (cc)")
        directory = tempfile.mkdtemp(prefix=f"{source.stem}-")
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        library = Path(directory) / f"{source.stem}.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
        _libraries[source] = library
    return _libraries[source]


_libraries: dict[Path, Path] = {}
