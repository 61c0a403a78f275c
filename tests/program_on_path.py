"""A program `memory` for shells and clients: a call of it becomes one of the forking server, in a tenth of the time."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

from forked_program import INT32, shared_server

LIMIT_SECONDS = 120
_CLIENT = """#!{python} -IS
import json, os, resource, socket, struct, sys
if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
    os.execv({installed!r}, [{installed!r}, *sys.argv[1:]])  # a limit is of this process alone
umask = os.umask(0)
os.umask(umask)
wanted = {{"words": sys.argv[1:], "cwd": os.getcwd(), "environ": dict(os.environ), "umask": umask}}
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"c"], [0, 1, 2])
    server.sendall(json.dumps(wanted).encode())
    server.shutdown(socket.SHUT_WR)
    (code,) = struct.unpack("!i", server.recv(4, socket.MSG_WAITALL))
os._exit(code if code >= 0 else 128 - code)
"""


@cache
def directory_of_memory() -> Path:
    """A directory for PATH with the program `memory` alone; it works as long as this process lives."""
    directory = Path(tempfile.mkdtemp(prefix="memory-"))
    atexit.register(shutil.rmtree, directory)
    installed = Path(sys.executable).with_name("memory")
    program, address = directory / "memory", directory / ".calls"
    program.write_text(_CLIENT.format(python=sys.executable, installed=str(installed), address=str(address)))
    program.chmod(0o755)
    shared_server()
    calls = socket.socket(socket.AF_UNIX)
    calls.bind(str(address))
    calls.listen()
    threading.Thread(target=_serve, args=(calls,), daemon=True).start()
    return directory


def _serve(calls: socket.socket) -> None:
    while True:
        call, _ = calls.accept()
        threading.Thread(target=_answer, args=(call,), daemon=True).start()


def _answer(call: socket.socket) -> None:
    with call, call.makefile("rb") as asking:
        _, streams, _, _ = socket.recv_fds(call, 1, 3)
        asked = json.loads(asking.read())
        server = shared_server()
        wanted = server.wanted(asked["words"], Path(asked["cwd"]), asked["environ"]) | {"umask": asked["umask"]}
        try:
            code = server.call(streams, wanted, LIMIT_SECONDS)
        finally:
            for each in streams:
                os.close(each)
        call.sendall(INT32.pack(code))
