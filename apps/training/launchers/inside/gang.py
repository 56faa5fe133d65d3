"""Runs inside the members of a gang whose launcher needs more than one program, or expects ssh. Standard library only.

    gang.py lead MEMBERS READY COUNT [BACKGROUND… --]… PROGRAM…
    gang.py follow READY COUNT [BACKGROUND… --]…
    gang.py connect HOST COMMAND…
    gang.py become LAUNCHER… -- PROGRAM…

`lead`, in rank 0: waits for all followers, starts the background programs, waits until READY (`host:port`, or `-`)
takes connections, runs the program and ends with its exit code. The followers end with it.
`follow`, in every other rank: runs its background programs, and what `connect` asks for, until the leader is done.
`connect` stands in for `ssh HOST COMMAND…`: `lead` offers it to Open MPI.

Whoever connects proves that it knows PLSTACK_GANG_KEY, which each attempt has anew and only its members are given.
`become` is `LAUNCHER… PROGRAM…`, for launchers that take addresses and no names: in them, as in background programs,
`{address}` stands for the member's own and `{first}` for that of rank 0, `{members}` for how many members there are,
`{temporary}` for its folder of temporary files.
"""

import hashlib
import hmac
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

PORT = 29400
PATIENCE_S = 300  # members leave the barrier together; a program of the image may take its time to listen
GRACE_S = 10
NOT_FOUND = 127
MAX_LINE = 1 << 20


def key() -> bytes:
    return os.environ["PLSTACK_GANG_KEY"].encode()


def proof(nonce: str, act: str, command: str) -> str:
    return hmac.new(key(), json.dumps([nonce, act, command]).encode(), hashlib.sha256).hexdigest()


def say(text: str) -> None:
    sys.stderr.write(f"plstack: {text}\n")
    sys.stderr.flush()


def call(host: str, act: str, command: str = "", patience: float = PATIENCE_S) -> socket.socket:
    """A connection to the follower on `host` that has been told what to do."""
    peer = reach(host, PORT, patience)
    nonce = json.loads(line(peer))
    peer.sendall(json.dumps([proof(nonce, act, command), act, command]).encode() + b"\n")
    return peer


def reach(host: str, port: int, patience: float = PATIENCE_S) -> socket.socket:
    end = time.monotonic() + patience
    while True:
        try:
            peer = socket.create_connection((host, port), 10)
        except OSError:
            if time.monotonic() > end:
                sys.exit(f"plstack: {host}:{port} cannot be reached")
            time.sleep(0.1)
        else:
            peer.settimeout(None)
            return peer


def line(peer: socket.socket) -> bytes:
    """Up to the next line's end, or as much as came."""
    data = b""
    while not data.endswith(b"\n") and len(data) < MAX_LINE:
        piece = peer.recv(1)
        if not piece:
            break
        data += piece
    return data


def started(argv: list[str], new_group: bool = True) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=new_group)
    except OSError as error:
        refuse(argv[0], error)


def refuse(program: str, error: OSError) -> NoReturn:
    say(f"{program}: {error.strerror}")
    sys.exit(NOT_FOUND if isinstance(error, FileNotFoundError) else 126)


def addressed(argv: list[str]) -> list[str]:
    own, first = (socket.gethostbyname(f"m{rank}") for rank in (os.environ["PLSTACK_RANK"], 0))
    known = {
        "{address}": own,
        "{first}": first,
        "{members}": os.environ["PLSTACK_MEMBERS"],
        "{temporary}": os.environ.get("TMPDIR", "/tmp"),  # noqa: S108 - where nothing else is said
    }
    for sign, value in known.items():
        argv = [word.replace(sign, value) for word in argv]
    return argv


def ended(process: "subprocess.Popen[bytes]") -> None:
    """The process and what it started, which shares its group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(GRACE_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def split(words: list[str], count: int) -> tuple[list[list[str]], list[str]]:
    """The first `count` programs, each up to its `--`, and the words after them."""
    programs = []
    for _number in range(count):
        cut = words.index("--")
        programs.append(words[:cut])
        words = words[cut + 1 :]
    return programs, words


def wait_for(ready: str, running: "list[subprocess.Popen[bytes]]") -> None:
    """Exits with the code of one of `running` that ends before it is ready."""
    host, _colon, port = ready.rpartition(":")
    end = time.monotonic() + PATIENCE_S
    while ready != "-":
        for process in running:
            if process.poll():
                say("what the program needs beside it has ended")
                sys.exit(process.returncode if process.returncode > 0 else 1)
        try:
            return socket.create_connection((host, int(port)), 10).close()
        except OSError:
            if time.monotonic() > end:
                sys.exit(f"plstack: {ready} cannot be reached")
            time.sleep(0.1)


def lead(members: str, ready: str, count: str, *words: str) -> int:
    backgrounds, program = split(list(words), int(count))
    held = [call(f"m{rank}", "hold") for rank in range(1, int(members))]
    agent = f"{sys.executable} -I -S {os.path.abspath(__file__)} connect"
    os.environ.update(OMPI_MCA_plm_rsh_agent=agent, PRTE_MCA_plm_ssh_agent=agent)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for each in backgrounds:
            running.append(started(addressed(each)))
        wait_for(ready, running)
        process = started(program, new_group=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda caught, _frame: process.send_signal(caught))
        code = process.wait()
        return code if code >= 0 else 128 - code
    finally:  # however it ended, the others end well: its exit code is that of all
        for left in reversed(running):
            ended(left)
        for peer in held:
            with suppress(OSError):
                peer.sendall(b"end\n")


class Follower:
    """`done`: set once it is known how this member ends, with `code`."""

    def __init__(self, ready: str, backgrounds: list[list[str]]) -> None:
        self.ready, self.backgrounds = ready, backgrounds
        self.done, self.code = threading.Event(), 1
        self.running: list[subprocess.Popen[bytes]] = []

    def end(self, code: int) -> None:
        if not self.done.is_set():
            self.code = code
            self.done.set()

    def serve(self, listener: socket.socket) -> None:
        while True:
            threading.Thread(target=self.answer, args=(listener.accept()[0],), daemon=True).start()

    def answer(self, peer: socket.socket) -> None:
        nonce = secrets.token_hex(32)
        with peer:
            try:
                peer.sendall(json.dumps(nonce).encode() + b"\n")
                mac, act, command = json.loads(line(peer))
                if not hmac.compare_digest(str(mac), proof(nonce, act, command)):
                    return
                if act == "hold":
                    self.hold(peer)
                else:
                    peer.sendall(f"{self.run(peer, command)}\n".encode())
            except (OSError, ValueError, TypeError):
                return

    def hold(self, leader: socket.socket) -> None:
        threading.Thread(target=self.begin, daemon=True).start()
        if line(leader) != b"end\n":  # killed; the platform ends the others, for its reason and not for this one
            time.sleep(GRACE_S)
            self.end(1)
        self.end(0)

    def begin(self) -> None:
        """Start what stands beside the program; it must last as long as the leader."""
        try:
            wait_for(self.ready, [])
            for argv in self.backgrounds:
                self.running.append(started(addressed(argv)))
                threading.Thread(target=self.watch, args=(self.running[-1],), daemon=True).start()
        except SystemExit as error:
            self.end(error.code if isinstance(error.code, int) else 1)

    def watch(self, process: "subprocess.Popen[bytes]") -> None:
        code = process.wait()
        if not self.done.wait(2):  # the leader's word may be on its way
            say("what this member ran for the others has ended")
            self.end(code if code > 0 else 1)

    def run(self, peer: socket.socket, command: str) -> int:
        """As sshd does: by a shell, and no longer than whoever asked is there."""
        process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None:
            if select.select([peer], [], [], 0.2)[0] and not peer.recv(1):
                ended(process)
        return process.returncode if process.returncode >= 0 else 128 - process.returncode


def follow(ready: str, count: str, *words: str) -> int:
    backgrounds, _rest = split(list(words), int(count))
    follower = Follower(ready, backgrounds)
    # Asked to stop, rank 0 may save first with the help of all; this member ends with it, or is killed after the grace.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    listener = socket.create_server((f"m{os.environ['PLSTACK_RANK']}", PORT))
    threading.Thread(target=follower.serve, args=(listener,), daemon=True).start()
    follower.done.wait()
    for process in reversed(follower.running):
        ended(process)
    return follower.code


def become(*words: str) -> int:
    (launcher,), program = split(list(words), 1)
    argv = [*addressed(launcher), *program]
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - the point of it
    except OSError as error:
        refuse(argv[0], error)


def connect(*words: str) -> int:
    host, *command = words
    peer = call(host, "run", " ".join(command), patience=30)
    said = line(peer).strip()
    return int(said) if said.isdigit() else 255


ACTS: "dict[str, Callable[..., int]]" = {"lead": lead, "follow": follow, "connect": connect, "become": become}

if __name__ == "__main__":
    sys.exit(ACTS[sys.argv[1]](*sys.argv[2:]))
