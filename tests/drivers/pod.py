"""A pod, as a cluster would run one: the shim is its first process, its folder is its own, TCP the only way in.

Reads the specification and the key from standard input, writes the port to standard output, and stays until it is
released.
"""

import json
import os
import socket
import sys
import tempfile
from pathlib import Path

from apps.workloads.drivers.channel.server import Server
from apps.workloads.drivers.local.attempt import Shim
from apps.workloads.drivers.local.channel import ShimAccess
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.linux import PR_SET_CHILD_SUBREAPER, prctl, remove_tree
from apps.workloads.drivers.local.records import RunDirectory, decode_spec

STAYS_S = 120.0


def main() -> None:
    asked = json.loads(sys.stdin.read())
    os.umask(0o022)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    own = Path(tempfile.mkdtemp(prefix="pod-"))
    run = RunDirectory(own / "runs" / asked["spec"]["request"]["attempt_id"])
    run.path.mkdir(parents=True)
    run.spec.write_text(json.dumps(asked["spec"]))
    spec = decode_spec(run.spec.read_bytes())
    journal = Journal(run)
    journal.beat(force=True)
    server = Server(ShimAccess(run, spec, journal), bytes.fromhex(asked["key"]))
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    server.listen(listener)
    print(listener.getsockname()[1], flush=True)
    Shim(run, spec, journal).run()
    server.released.wait(STAYS_S)
    server.close()
    remove_tree(own)
    os._exit(0)


if __name__ == "__main__":
    main()
