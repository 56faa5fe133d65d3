"""Runs inside a workload: a web server with what a notebook's would have, of the standard library only."""

import base64
import hashlib
import http.server
import json
import struct
import sys
import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
BLOCK = bytes(range(256)) * 256


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        name = "get_" + (url.path.strip("/") or "index")
        getattr(self, name, self.get_missing)({key: values[0] for key, values in parse_qs(url.query).items()})

    def do_POST(self) -> None:
        digest, size = hashlib.sha256(), 0
        for block in self.blocks():
            digest.update(block)
            size += len(block)
        self.reply(json.dumps({"size": size, "sha256": digest.hexdigest(), "method": self.command}).encode())

    do_PUT = do_POST

    def blocks(self) -> Iterator[bytes]:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return
        left = int(self.headers.get("Content-Length", 0))
        while left:
            block = self.rfile.read(min(left, 65536))
            left -= len(block)
            yield block

    def get_index(self, query: dict[str, str]) -> None:
        self.reply(b"hello from inside")

    def get_headers(self, query: dict[str, str]) -> None:
        pairs = [[key, value] for key, value in self.headers.items()]
        self.reply(json.dumps({"path": self.path, "headers": pairs}).encode())

    def get_cookies(self, query: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Set-Cookie", "mine=1; Domain=apps.localhost; Path=/")
        self.send_header("Set-Cookie", "plstack_app=stolen; Path=/")
        self.send_header("Set-Cookie", "plstack_session=stolen")
        self.send_header("Alt-Svc", 'h3=":443"')
        self.send_header("Content-Security-Policy", "default-src 'self'")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def get_download(self, query: dict[str, str]) -> None:
        left = int(query["size"])
        self.send_response(200)
        self.send_header("Content-Length", str(left))
        self.end_headers()
        try:
            while left:
                left -= self.wfile.write(BLOCK[: min(left, len(BLOCK))])
        except OSError:
            print("download broken off", left > 0, flush=True)

    def get_drip(self, query: dict[str, str]) -> None:
        """An endless stream of events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"data: tick\n\n")
                self.wfile.flush()
                time.sleep(0.05)
        except OSError:
            print("drip broken off", flush=True)
        self.close_connection = True

    def get_break(self, query: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"half")
        self.close_connection = True

    def get_hang_up(self, query: dict[str, str]) -> None:
        self.close_connection = True

    def get_silent(self, query: dict[str, str]) -> None:
        print("asked in silence", flush=True)
        time.sleep(60)

    def get_missing(self, query: dict[str, str]) -> None:
        self.reply(b"no such page", 404)

    def reply(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def get_ws(self, query: dict[str, str]) -> None:
        """Echo frames back; the text "close CODE REASON" closes, "headers" tells the handshake's."""
        if query.get("refuse"):
            self.reply(b"", 418)
            return
        accept = base64.b64encode(hashlib.sha1(self.headers["Sec-WebSocket-Key"].encode() + MAGIC).digest()).decode()
        offered = [name.strip() for name in self.headers.get("Sec-WebSocket-Protocol", "").split(",") if name]
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accept)
        if offered:
            self.send_header("Sec-WebSocket-Protocol", offered[-1])
        self.end_headers()
        self.close_connection = True
        self.echo()

    def echo(self) -> None:
        while True:
            opcode, data = self.frame()
            if opcode == 8:
                print("closed", struct.unpack("!H", data[:2])[0] if data else None, data[2:].decode(), flush=True)
                self.send(8, data)
                return
            if opcode == 9:
                self.send(10, data)
            elif opcode == 1 and data.startswith(b"close "):
                _, code, reason = data.decode().split(" ", 2)
                self.send(8, struct.pack("!H", int(code)) + reason.encode())
            elif opcode == 1 and data == b"headers":
                self.send(1, json.dumps(dict(self.headers.items())).encode())
            elif opcode in (1, 2):
                self.send(opcode, data)

    def frame(self) -> tuple[int, bytes]:
        first = self.rfile.read(2)
        if len(first) < 2:
            print("connection lost", flush=True)
            sys.exit()
        size = first[1] & 0x7F
        if size == 126:
            size = struct.unpack("!H", self.rfile.read(2))[0]
        elif size == 127:
            size = struct.unpack("!Q", self.rfile.read(8))[0]
        mask, data = self.rfile.read(4), self.rfile.read(size)
        if not size:
            return first[0] & 0x0F, b""
        key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        return first[0] & 0x0F, (int.from_bytes(data, "big") ^ key).to_bytes(size, "big")

    def send(self, opcode: int, data: bytes) -> None:
        size = len(data)
        head = bytes([0x80 | opcode])
        if size < 126:
            head += bytes([size])
        elif size < 65536:
            head += bytes([126]) + struct.pack("!H", size)
        else:
            head += bytes([127]) + struct.pack("!Q", size)
        self.wfile.write(head + data)
        self.wfile.flush()

    def log_message(self, *args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


if __name__ == "__main__":
    time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print("listening", flush=True)
    Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
