"""What the first start of an image costs: fetched and unpacked as a node does, beside a plain unpack.

    python -m benchmarks.images [--mib N] [--rounds N] [--json]

An image of `--mib` on the disk, half of it in files of 16 MiB, half in files of 8 KiB, compressed as clients do, lies
in Debian's docker-registry on this machine. A node's own process fetches and unpacks it; beside it skopeo fetches it
and tar unpacks its layers in order, which syncs nothing. By turns; what counts is the median of the rounds' ratios,
ours over the plain one's. What is unpacked has to be the same. The page cache is warm for both. Exit status 1 when the
goal is missed. Other work on the machine makes figures worse.
"""

import argparse
import hashlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import Reference
from apps.workloads.drivers.local.oci.store import Store
from tests.drivers.registries import registry

GOAL = 1.2
SKOPEO = shutil.which("skopeo")
MIB = 1 << 20
LAYERS = 4
LARGE, SMALL = 16 * MIB, 8192


def tree_layer(mib: int, number: int) -> bytes:
    """Half of it large files, half small ones; each half can be compressed to about a half."""
    large, small = mib * MIB // 2 // LARGE, mib * MIB // 2 // SMALL
    entries = [(f"opt/{number}/large/{each}", _half_noise(LARGE)) for each in range(large)]
    entries += [(f"opt/{number}/small/{each // 500}/{each}", _half_noise(SMALL)) for each in range(small)]
    return _packed(entries)


def _half_noise(size: int) -> bytes:
    return b"".join(os.urandom(2048) + bytes(2048) for _each in range(size // 4096))


def _packed(entries: Sequence[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1, format=tarfile.PAX_FORMAT) as archive:
        for name, data in entries:
            about = tarfile.TarInfo(name)
            about.size, about.mode = len(data), 0o644
            archive.addfile(about, io.BytesIO(data))
    return buffer.getvalue()


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def skopeo(*words: str) -> None:
    subprocess.run([str(SKOPEO), "--insecure-policy", "copy", "-q", *words], check=True)


def first_start(folder: Path, mib: int, rounds: int) -> dict[str, Any]:
    ours: list[float] = []
    plain: list[float] = []
    (folder / "registry").mkdir()
    with registry(folder / "registry") as source:
        image = source.image(*[tree_layer(mib // LAYERS, number) for number in range(LAYERS)])
        for turn in range(rounds + 1):
            calls = [(ours, lambda: _as_a_node(folder / "node", image, source.host)),
                     (plain, lambda: _plainly(folder / "plain", image))]  # fmt: skip
            for kept, call in calls if turn % 2 else calls[::-1]:
                took = seconds(call)
                if turn:
                    kept.append(took)
            if not turn:
                _same(Store(folder / "node").tree(image), folder / "plain" / "root")
            shutil.rmtree(folder / "node")
            shutil.rmtree(folder / "plain")
    ratio = statistics.median(own / other for own, other in zip(ours, plain, strict=True))
    return {
        "ratio": round(ratio, 3),
        "ours_s": round(statistics.median(ours), 1),
        "plain_s": round(statistics.median(plain), 1),
    }


def _as_a_node(home: Path, image: Reference, host: str) -> None:
    """In a process of its own, as the driver has it."""
    home.mkdir()
    job = {
        "image": {"repository": image.repository, "digest": image.digest},
        "home": str(home),
        "rules": {"plain_http": [host], "most_mib": 65536, "most_files": 1_000_000},
        "certificates": "",
        "bearer": "",
    }
    code = "from apps.workloads.drivers.local.oci import pull; pull.main()"
    done = subprocess.run(
        [sys.executable, "-c", code], input=f"{json.dumps(job)}\n", capture_output=True, text=True, check=True
    )
    if '"done": true' not in done.stdout:
        sys.exit(done.stdout[-500:])


def _plainly(folder: Path, image: Reference) -> None:
    skopeo("--src-tls-verify=false", f"docker://{image.name}", f"dir:{folder}")
    root = folder / "root"
    root.mkdir()
    about = json.loads((folder / "manifest.json").read_text())
    for each in about["layers"]:
        path = folder / each["digest"].removeprefix("sha256:")
        subprocess.run(["tar", "-xzf", str(path), "-C", str(root)], check=True)


def _same(one: Path, other: Path) -> None:
    if _digests(one) != _digests(other):
        sys.exit("what was unpacked is not the same")


def _digests(root: Path) -> dict[str, str]:
    files = (path for path in (root / "opt").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    args = parser.parse_args()
    if SKOPEO is None or shutil.which("docker-registry") is None:
        sys.exit("skopeo and docker-registry are not installed")
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory(prefix="plstack-images-") as name:
        found = first_start(Path(name), args.mib, args.rounds)
    found |= {"load": [load, round(os.getloadavg()[0], 1)], "met": found["ratio"] <= GOAL}
    print(f"{found['ours_s']} s beside {found['plain_s']} s: {found['ratio']} times")
    if args.json:
        print(json.dumps(found))
    return 0 if found["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
