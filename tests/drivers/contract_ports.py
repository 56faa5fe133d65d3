"""Contract: a declared port is reached from outside, whatever its program knows of it."""

import hashlib
import os
import socket
import tempfile
import threading
import time
from contextlib import ExitStack, closing, suppress

import pytest

from apps.workloads.drivers.base import DriverError, Handle
from apps.workloads.drivers.sockets import connected
from tests.drivers.kit import MIB, Kit, eventually
from tests.ports import own_port

SERVER = """
import socketserver, sys
class Handler(socketserver.StreamRequestHandler):
    rbufsize = 0
    def handle(self):
        word = self.rfile.readline()
        if word == b"echo\\n":
            while data := self.request.recv(65536):
                self.request.sendall(data)
            self.request.sendall(b" bye")
        elif word == b"count\\n":
            size = 0
            while data := self.request.recv(65536):
                size += len(data)
            self.request.sendall(str(size).encode())
        elif word == b"pour\\n":
            size = int(self.rfile.readline())
            for _ in range(size // 65536):
                self.request.sendall(b"x" * 65536)
        elif word == b"break\\n":
            sys.exit(1)
        else:
            self.request.sendall(word)
class Server(socketserver.ThreadingTCPServer):
    request_queue_size, daemon_threads, allow_reuse_address = 512, True, True
with Server(("127.0.0.1", int(sys.argv[1])), Handler) as server:
    print("ready")
    server.serve_forever()
"""
COMES_AND_GOES = f"""
import os, socket, time
for turn in range(2):
    with socket.create_server(("127.0.0.1", {own_port(8123)})) as server:
        server.accept()[0].close()
    while not os.path.exists(os.environ["PLSTACK_OUTPUT"] + f"/seen-{{turn}}"):
        time.sleep(0.05)
"""
SERVES_ITSELF = f"""
import os, socket, time
own = socket.socket(socket.AF_UNIX)
own.bind(os.environ["PLSTACK_PORTS"] + "/{own_port(8124)}.sock")
own.listen()
other = socket.create_server(("127.0.0.1", {own_port(8124)}))
time.sleep(1)
print("ready")
peer, _ = own.accept()
peer.sendall(b"mine")
peer.close()
time.sleep(60)
"""

SWAPS_ITS_SOCKET = """
import os, socket, sys, threading
folder = os.environ["PLSTACK_PORTS"] + "/"
own = socket.socket(socket.AF_UNIX)
own.bind(folder + "own")
own.listen(100)
def serve():
    while True:
        peer, _ = own.accept()
        peer.sendall(b"mine")
        peer.close()
threading.Thread(target=serve, daemon=True).start()
print("ready")
while True:
    os.symlink(sys.argv[1], folder + "next")
    os.rename(folder + "next", folder + "8129.sock")
    os.link(folder + "own", folder + "next")
    os.rename(folder + "next", folder + "8129.sock")
"""
SWAPPING_S = 1.5


def read_all(connection: socket.socket) -> bytes:
    data = b""
    while more := connection.recv(MIB):
        data += more
    return data


class PortsContract:
    def test_a_port_of_the_loopback_is_reached(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SERVER, str(own_port(8120)), ports=(own_port(8120), own_port(8121))))
        with kit.connect(handle, own_port(8120)) as connection:
            connection.sendall(b"hello\n")
            assert read_all(connection) == b"hello\n"
        with pytest.raises(DriverError):
            kit.driver.endpoint(handle, own_port(8121))
        kit.driver.stop(handle, 0)
        kit.wait(handle)
        with pytest.raises(DriverError):
            kit.driver.endpoint(handle, own_port(8120))

    def test_either_side_may_end_its_half_first(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SERVER, str(own_port(8122)), ports=(own_port(8122),)))
        with kit.connect(handle, own_port(8122)) as connection:
            connection.sendall(b"echo\n")
            connection.sendall(b"one")
            assert connection.recv(3) == b"one"
            connection.shutdown(socket.SHUT_WR)
            assert read_all(connection) == b" bye"
        kit.driver.stop(handle, 0)

    def test_much_goes_both_ways_and_arrives_whole(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SERVER, str(own_port(8125)), ports=(own_port(8125),)))
        sent = os.urandom(16 * MIB)
        with kit.connect(handle, own_port(8125)) as connection:
            connection.sendall(b"echo\n")

            def push() -> None:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)

            pusher = threading.Thread(target=push)
            pusher.start()
            received = read_all(connection)
            pusher.join()
        assert len(received) == len(sent) + 4
        assert hashlib.sha256(received[:-4]).digest() == hashlib.sha256(sent).digest()
        kit.driver.stop(handle, 0)

    def test_a_slow_reader_holds_up_nobody_else(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SERVER, str(own_port(8126)), ports=(own_port(8126),)))
        with kit.connect(handle, own_port(8126)) as slow, kit.connect(handle, own_port(8126)) as quick:
            slow.sendall(b"pour\n%d\n" % (8 * MIB))
            time.sleep(0.3)
            quick.sendall(b"hello\n")
            assert read_all(quick) == b"hello\n"
            assert len(read_all(slow)) == 8 * MIB
        kit.driver.stop(handle, 0)

    def test_many_connections_at_a_time_and_the_next_ones_wait(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SERVER, str(own_port(8127)), ports=(own_port(8127),)))
        with ExitStack() as stack:
            opened = [stack.enter_context(kit.connect(handle, own_port(8127))) for _ in range(256)]
            for number, connection in enumerate(opened):
                connection.sendall(b"%d\n" % number)
            assert [int(read_all(connection)) for connection in opened] == list(range(256))
            waiting = stack.enter_context(kit.connect(handle, own_port(8127)))
            waiting.sendall(b"next\n")
            for connection in opened:
                connection.close()
            assert read_all(waiting) == b"next\n"
        kit.driver.stop(handle, 0)

    def test_a_port_is_there_as_long_as_something_listens(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(COMES_AND_GOES, ports=(own_port(8123),)))
        for turn in range(2):
            with kit.connect(handle, own_port(8123)) as connection:
                assert read_all(connection) == b""
            eventually(lambda: self._is_reached(kit, handle, own_port(8123)), lambda reached: not reached)
            (kit.output / f"seen-{turn}").touch()
        kit.driver.stop(handle, 0)

    @staticmethod
    def _is_reached(kit: Kit, handle: Handle, port: int) -> bool:
        try:
            kit.driver.endpoint(handle, port)
        except DriverError:
            return False
        return True

    def test_a_socket_of_the_programs_own_is_left_alone(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SERVES_ITSELF, ports=(own_port(8124),)))
        kit.wait_output(handle, "ready")
        with closing(kit.connect(handle, own_port(8124))) as connection:
            assert read_all(connection) == b"mine"
        kit.driver.stop(handle, 0)

    def test_no_swap_of_a_socket_for_a_link_leads_to_a_socket_of_the_machine(self, kit: Kit) -> None:
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as victim:
            victim.bind(f"{folder}/victim.sock")
            victim.listen(1000)
            victim.setblocking(False)
            handle = kit.launch(kit.python(SWAPS_ITS_SOCKET, f"{folder}/victim.sock"))
            kit.wait_output(handle, "ready")
            answers = self._connect_again_and_again(kit, handle)
            kit.driver.stop(handle, 0)
            assert b"mine" in answers
            with pytest.raises(BlockingIOError):
                victim.accept()

    @staticmethod
    def _connect_again_and_again(kit: Kit, handle: Handle) -> set[bytes]:
        answers: set[bytes] = set()
        began = time.monotonic()
        while time.monotonic() < began + (SWAPPING_S if b"mine" in answers else 60):
            with suppress(DriverError, OSError), connected(kit.driver.endpoint(handle, 8129), 5) as connection:
                answers.add(connection.recv(4))
        return answers
