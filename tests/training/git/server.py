"""A real Git server over TLS: `git http-backend` behind Python's HTTP server, with a login where a test wants one."""

import base64
import http.server
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.drivers.indexes import certificates

LOGIN = ("robot", "s3cret-token")
WHO = "Ada Lovelace <ada@example.org> 1700000000 +0100"


@dataclass(frozen=True, slots=True)
class Link:
    target: str


@dataclass(frozen=True, slots=True)
class Program:
    text: bytes


@dataclass(frozen=True, slots=True)
class Submodule:
    commit: str = "1" * 40


File = bytes | Link | Program | Submodule


@dataclass(frozen=True, slots=True)
class Repository:
    """A bare one on the server."""

    path: Path

    def git(self, *words: str, given: bytes = b"") -> bytes:
        plain = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
        argv = ["git", f"--git-dir={self.path}", *words]
        return subprocess.run(argv, input=given, env=plain, capture_output=True, check=True, timeout=120).stdout

    def commit(self, files: Mapping[str, File], *, branch: str = "main", subject: str = "First") -> str:
        """A commit of exactly these files on the branch; its name."""
        before = self.git("for-each-ref", f"refs/heads/{branch}")
        said = subject.encode()
        lines = [f"commit refs/heads/{branch}\nauthor {WHO}\ncommitter {WHO}\ndata {len(said)}\n".encode(), said, b"\n"]
        if before:
            lines.append(f"from refs/heads/{branch}^0\n".encode())
        lines.append(b"deleteall\n")
        lines += [_change(path, file) for path, file in files.items()]
        self.git("fast-import", "--quiet", given=b"".join(lines))
        return self.git("rev-parse", f"refs/heads/{branch}").decode().strip()

    def point(self, tree: bytes, *, branch: str = "main") -> str:
        """A commit of a tree that only hostile hands write: its raw bytes."""
        name = self.tree(tree)
        text = f"tree {name}\nauthor {WHO}\ncommitter {WHO}\n\nHostile\n".encode()
        commit = self.git("hash-object", "-w", "--stdin", "-t", "commit", "--literally", given=text).decode().strip()
        self.git("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def tree(self, raw: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", "-t", "tree", "--literally", given=raw).decode().strip()

    def blob(self, text: bytes) -> bytes:
        """Its name, in binary as trees have it."""
        return bytes.fromhex(self.git("hash-object", "-w", "--stdin", given=text).decode().strip())


def _change(path: str, file: File) -> bytes:
    if isinstance(file, Submodule):
        return f"M 160000 {file.commit} {path}\n".encode()
    mode, text = {
        Link: lambda each: ("120000", os.fsencode(each.target)),
        Program: lambda each: ("100755", each.text),
        bytes: lambda each: ("100644", each),
    }[type(file)](file)
    return f"M {mode} inline {path}\ndata {len(text)}\n".encode() + text + b"\n"


@dataclass(slots=True)
class GitServer:
    """`asked`: what came, as method and path. `redirects`: paths that lead elsewhere. `guarded`: asks for `LOGIN`."""

    root: Path
    authority: str
    port: int = 0
    asked: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    guarded: bool = False
    hanging: threading.Event | None = None

    @property
    def host(self) -> str:
        return f"localhost:{self.port}"

    def url(self, name: str = "project.git") -> str:
        return f"https://{self.host}/{name}"

    def repository(self, name: str = "project.git") -> Repository:
        path = self.root / name
        made = Repository(path)
        if not path.exists():
            made.git("init", "--quiet", "--bare", "--initial-branch=main", str(path))
        return made


class Handler(http.server.BaseHTTPRequestHandler):
    server_of: GitServer

    def do_GET(self) -> None:
        found, url = self.server_of, urlsplit(self.path)
        found.asked.append(f"{self.command} {url.path}")
        found.logins.append(self.headers.get("Authorization", ""))
        if found.hanging is not None:
            found.hanging.wait(60)
        for path, place in found.redirects.items():
            if url.path.startswith(path):
                self._say(302, {"Location": place + url.path.removeprefix(path) + f"?{url.query}"})
                return
        if found.guarded and found.logins[-1] != f"Basic {base64.b64encode(':'.join(LOGIN).encode()).decode()}":
            self._say(401, {"WWW-Authenticate": 'Basic realm="git"'})
            return
        self._backend(url.path, url.query)

    do_POST = do_GET

    def _backend(self, path: str, query: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        variables = {
            "PATH": os.defpath,
            "GIT_PROJECT_ROOT": str(self.server_of.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        argv = ["git", "http-backend"]
        answer = subprocess.run(argv, input=body, env=variables, capture_output=True, check=False, timeout=120).stdout
        head, _empty, content = answer.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(fields.pop("Status", "200 OK").split(" ")[0])
        self._say(status, fields, content)

    def _say(self, status: int, fields: dict[str, str], content: bytes = b"") -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def git_server(folder: Path) -> Iterator[GitServer]:
    folder.mkdir(exist_ok=True)
    authority, context = certificates(folder)
    found = GitServer(folder, authority)
    handler = type("OwnHandler", (Handler,), {"server_of": found})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    found.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        if found.hanging is not None:
            found.hanging.set()
        server.shutdown()
        server.server_close()
        thread.join()
