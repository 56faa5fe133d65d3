"""Servers on the loopback that speak just enough SMTP or HTTP, and remember what they were told."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class MailBox:
    """What arrived; `answers` overrule the reply to a command, as in {"RCPT": "550 no such user"}."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    logins: list[str] = field(default_factory=list)


REPLIES = {"EHLO": "250-loopback\r\n250 AUTH PLAIN", "AUTH": "235 welcome", "DATA": "354 go on", "QUIT": "221 bye"}


class MailHandler(socketserver.StreamRequestHandler):
    @property
    def box(self) -> MailBox:
        return self.server.box  # type: ignore[attr-defined, no-any-return]

    def handle(self) -> None:
        self.reply("220 loopback")
        for raw in self.rfile:
            line = raw.decode().strip()
            command = line[:4].upper()
            answer = self.box.answers.get(command, REPLIES.get(command, "250 ok"))
            if command == "AUTH":
                self.box.logins.append(line)
            self.reply(answer)
            if command == "QUIT" or (answer.startswith("354") and not self.take()):
                return

    def take(self) -> bool:
        """The message; False leaves without an answer."""
        lines = []
        for raw in self.rfile:
            if raw == b".\r\n":
                break
            lines.append(raw)
        answer = self.box.answers.get("BODY", "250 taken")
        if answer.startswith("250"):
            self.box.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))
        if answer:
            self.reply(answer)
        return bool(answer)

    def reply(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def smtp_server() -> Iterator[MailBox]:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailHandler)
    box = server.box = MailBox()  # type: ignore[attr-defined]
    with running(server) as port:
        box.port = port
        yield box


HELD_S = 60.0
"""How long a server that hangs keeps who asks it, unless the test is over before."""


@dataclass
class Receiver:
    """What was posted; `status`, `body` and `headers` are the answer to each."""

    port: int = 0
    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    posts: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?x=1"


@contextmanager
def http_server(*, hanging: bool = False) -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            receiver.posts.append((self.path, dict(self.headers), self.rfile.read(length)))
            if hanging:
                receiver.hold.wait(HELD_S)
                return
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(receiver.body)

        do_GET = do_POST

        def log_message(self, *args: Any) -> None:
            return

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        receiver.port = port
        try:
            yield receiver
        finally:
            receiver.hold.set()


@contextmanager
def running(server: socketserver.TCPServer) -> Iterator[int]:
    server.daemon_threads = True  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
