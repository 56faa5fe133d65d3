"""As much of `torch.distributed.run` as an elastic run needs: found in the run's code, since the image has no PyTorch.

It takes the same words, meets all others at the rendezvous, and starts the script with the same variables.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
for option in ("nnodes", "nproc-per-node", "rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "local-addr"):
    parser.add_argument(f"--{option}", required=True)
parser.add_argument("--max-restarts", type=int, required=True)
parser.add_argument("script", nargs=argparse.REMAINDER)
said = parser.parse_args()
count, conf = int(said.nnodes), dict(pair.split("=") for pair in said.rdzv_conf.split(","))
host, port = said.rdzv_endpoint.split(":")
assert (said.rdzv_backend, said.nproc_per_node) == ("c10d", "1")


def meet() -> int:
    """The rank that whoever keeps the rendezvous gives, once as many are there as there are to be."""
    if int(conf["is_host"]):
        with socket.create_server((said.local_addr, int(port))) as server:
            peers = [server.accept()[0] for _other in range(count - 1)]
            for rank, peer in enumerate(peers, 1):
                peer.sendall(json.dumps(rank).encode() + b"\n")
        return 0
    while True:
        try:
            peer = socket.create_connection((host, int(port)), 10)
            return int(json.loads(peer.makefile().readline()))
        except OSError:
            time.sleep(0.1)


world = {"RANK": str(meet()), "WORLD_SIZE": str(count), "MASTER_ADDR": host, "MASTER_PORT": str(int(port) + 1)}
sys.exit(subprocess.run([sys.executable, "-u", *said.script], env={**os.environ, **world}, check=False).returncode)
