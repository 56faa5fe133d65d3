"""Shells, commands, rsync and forwards, with the client that people have."""

import hashlib
import os
import socket
import subprocess
import time

from apps.envs.models import Environment
from apps.workloads import activity
from apps.workloads.choices import Source
from tests.drivers.kit import MIB, eventually
from tests.envs.ssh.kit import Client, Desk, home_of
from tests.ports import free_port


def test_a_command_its_output_its_errors_and_its_exit_code(alice: Client, running: Environment) -> None:
    done = alice.ssh(running.code, 'echo "$MARK in $PWD"; echo wrong >&2; exit 37')
    assert (done.code, done.output, done.errors) == (37, b"inside in /home/user\n", "wrong\n")


def test_input_passes_unchanged_and_ends(alice: Client, running: Environment) -> None:
    sent = os.urandom(3 * MIB)
    done = alice.ssh(running.code, "sha256sum", data=sent)
    assert done.output.decode().split()[0] == hashlib.sha256(sent).hexdigest()
    done = alice.ssh(running.code, "cat", data=sent)
    assert done.output == sent


def test_a_signal_is_told(alice: Client, running: Environment) -> None:
    done = alice.ssh(running.code, "kill -TERM $$")
    assert done.code == 255 or done.code == 128 + 15


def test_what_stays_behind_does_not_hold_the_connection(alice: Client, running: Environment) -> None:
    done = alice.ssh(running.code, "sleep 600 & echo started")  # within the client's patience
    assert (done.code, done.output) == (0, b"started\n")


def test_a_terminal_of_the_right_size(alice: Client, running: Environment) -> None:
    done = alice.ssh(running.code, "tty -s && stty size && echo $TERM", before=("-tt",))
    rows, columns, term = done.output.decode().split()[:3]
    assert done.code == 0
    assert (rows.isdigit(), columns.isdigit(), bool(term)) == (True, True, True)


def test_an_interactive_shell_reads_its_commands(alice: Client, running: Environment) -> None:
    done = alice.ssh(running.code, before=("-T",), data=b"echo $((6*7)); cd /tmp; pwd; exit 5\n")
    assert (done.code, done.output) == (5, b"42\n/tmp\n")


def test_a_resize_reaches_the_program(alice: Client, running: Environment) -> None:
    script = "trap 'stty size' WINCH; echo ready; while true; do sleep 0.1; done"
    leader, follower = os.openpty()
    subprocess.run(["stty", "-F", os.ttyname(follower), "rows", "30", "cols", "90"], check=True)
    argv = ["ssh", *alice.options(), "-tt", f"{running.code}@127.0.0.1", script]
    client = subprocess.Popen(argv, stdin=follower, stdout=subprocess.PIPE, start_new_session=True)
    assert client.stdout is not None
    assert b"ready" in client.stdout.readline()
    subprocess.run(["stty", "-F", os.ttyname(follower), "rows", "41", "cols", "123"], check=True)
    client.send_signal(28)
    sizes = [client.stdout.readline().split()]
    if sizes == [[b"30", b"90"]]:  # the size of the start, where it comes after the program's own
        sizes.append(client.stdout.readline().split())
    assert sizes[-1] == [b"41", b"123"]
    client.terminate()
    client.wait(60)
    os.close(leader)
    os.close(follower)


def test_rsync_sends_only_what_changed(alice: Client, running: Environment, desk: Desk) -> None:
    tree = desk.folder / "tree"
    tree.mkdir()
    (tree / "big").write_bytes(os.urandom(4 * MIB))
    (tree / "small").write_text("one")
    first = alice.rsync("-a", "--stats", "tree/", f"@{running.code}:tree/")
    assert first.code == 0, first.errors
    with open(tree / "big", "r+b") as file:
        file.write(b"changed")
    # Of the same size within the same second: rsync would take it for the same file.
    os.utime(tree / "big", (time.time() + 10, time.time() + 10))
    second = alice.rsync("-a", "--stats", "tree/", f"@{running.code}:tree/")
    sent = next(line for line in second.output.decode().splitlines() if line.startswith("Total bytes sent"))
    assert int(sent.split()[-1].replace(",", "").replace(".", "")) < 200_000
    assert (home_of(running) / "tree/big").read_bytes() == (tree / "big").read_bytes()


def test_a_port_of_the_environment_is_forwarded_and_no_other_host(
    alice: Client, running: Environment, desk: Desk
) -> None:
    (home_of(running) / "page.txt").write_text("served inside")
    ports = free_port(), free_port()
    argv = ["ssh", *alice.options(), "-N", "-L", f"{ports[0]}:localhost:8080", "-L", f"{ports[1]}:127.0.0.2:8080"]
    client = subprocess.Popen([*argv, f"{running.code}@127.0.0.1"])
    try:
        answer = eventually(lambda: fetch(ports[0]), lambda found: b"served inside" in found)
        assert answer.startswith(b"HTTP/1.0 200")
        assert fetch(ports[1]) == b""
    finally:
        client.terminate()
        client.wait(60)


def test_a_socket_that_stands_for_a_port_is_forwarded(alice: Client, running: Environment) -> None:
    serve = (
        "import os, socket; s = socket.socket(socket.AF_UNIX); s.bind(os.environ['PLSTACK_PORTS'] + '/7000.sock'); "
        "s.listen(); print('up', flush=True); p = s.accept()[0]; p.sendall(b'by socket'); p.close()"
    )
    server = subprocess.Popen(
        ["ssh", *alice.options(), f"{running.code}@127.0.0.1", f'python -c "{serve}"'], stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"up\n"
    done = alice.ssh(running.code, before=("-W", "localhost:7000"))
    assert done.output == b"by socket"
    server.wait(60)


def test_a_client_that_hangs_up_ends_what_it_ran(alice: Client, running: Environment) -> None:
    argv = ["ssh", *alice.options(), f"{running.code}@127.0.0.1", "echo up; sleep 54321"]
    client = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert client.stdout is not None
    assert client.stdout.readline() == b"up\n"
    assert b"54321" in alice.ssh(running.code, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; true; #").output
    client.kill()
    client.wait(60)
    eventually(
        lambda: alice.ssh(running.code, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; true; #").output,
        lambda found: b"sleep 54321" not in found,
    )


def fetch(port: int) -> bytes:
    try:
        with socket.create_connection(("127.0.0.1", port), 60) as connection:
            connection.sendall(b"GET /page.txt HTTP/1.0\r\n\r\n")
            return b"".join(iter(lambda: connection.recv(65536), b""))
    except OSError:
        return b""


def test_nothing_is_forwarded_back(alice: Client, running: Environment) -> None:
    done = alice.ssh(running.code, "true", before=("-o", "ExitOnForwardFailure=yes", "-R", "0:localhost:22"))
    assert done.code == 255
    assert "forward" in done.errors


def test_use_is_told_to_whoever_watches_for_idleness(alice: Client, running: Environment) -> None:
    argv = ["ssh", *alice.options(), f"{running.code}@127.0.0.1", "sleep 600"]
    client = subprocess.Popen(argv, stdin=subprocess.PIPE)
    assert running.workload is not None
    identity = running.workload.pk
    eventually(
        lambda: activity.latest_use([identity])[identity].connections.get(Source.SSH, 0), lambda count: count == 1
    )
    client.kill()
    client.wait(60)
    eventually(
        lambda: activity.latest_use([identity])[identity].connections.get(Source.SSH, 0), lambda count: count == 0
    )
