"""How long `make run` takes to a sign-in page, cold and warm, and how much memory the platform then holds.

    python3 benchmarks/quickstart.py [--json] [--cached] [--settle SECONDS]

Cold: a fresh clone of this checkout's HEAD and an empty PLSTACK_HOME, package caches emptied (or as the machine has
them, with --cached). Warm: the same copy started again. Memory is the proportional set size (PSS, which counts shared
pages once) of the supervisor and everything below it. With --json the last line is a JSON object. Exit status 1 when a
target is missed. Linux only; writes nothing outside a temporary folder.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {"cold_s": 60.0, "warm_s": 5.0, "pss_mb": 400.0}
PATIENCE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds to the sign-in page and MB of PSS; `warm_s` is the median of the warm starts."""

    cold_s: float
    warm_s: float
    pss_mb: float
    processes_mb: dict[str, float]
    cores: int
    cached: bool


class Platform:
    """One `make run`, from its start to its end."""

    def __init__(self, clone: Path, env: dict[str, str], log: Path) -> None:
        self.env, self.log, self.began = env, log, time.monotonic()
        self.sign_in = f"http://127.0.0.1:{env['PLSTACK_PORT']}/accounts/login/"
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                ["make", "run"], cwd=clone, env=env, stdout=output, stderr=output, start_new_session=True
            )

    def seconds_to_sign_in(self) -> float:
        while not self._shows_sign_in():
            if self.process.poll() is not None or time.monotonic() - self.began > PATIENCE_SECONDS:
                raise SystemExit(f"the platform did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)
        return time.monotonic() - self.began

    def _shows_sign_in(self) -> bool:
        try:
            with urllib.request.urlopen(self.sign_in, timeout=10) as answer:  # noqa: S310  our own address
                return b'type="password"' in answer.read()
        except (urllib.error.URLError, OSError):
            return False

    def supervisor(self) -> int:
        told = json.loads((Path(self.env["PLSTACK_HOME"]) / "run" / "processes.json").read_text())
        return int(told["supervisor"])

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(120)


def family(pid: int) -> Iterator[int]:
    """A process and everything below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from family(int(child))


def pss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def memory(supervisor: int) -> dict[str, float]:
    """PSS by process name; Postgres' own children are added up."""
    found: dict[str, float] = {}
    for pid in family(supervisor):
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        name = {"python3": "supervisor", "python": "zygote"}.get(name, name) if pid != supervisor else "supervisor"
        found[name] = found.get(name, 0.0) + pss_mb(pid)
    return {name: round(size, 1) for name, size in sorted(found.items(), key=lambda item: -item[1])}


def environment(folder: Path, cached: bool) -> dict[str, str]:
    dropped = {"DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "PLSTACK_VENV", "DJANGO_SETTINGS_MODULE", "MAKEFLAGS"}
    env = {name: value for name, value in os.environ.items() if name not in dropped}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    env |= {"PLSTACK_HOME": str(folder / "home"), "PLSTACK_PORT": port}
    return env if cached else env | {"PIP_NO_CACHE_DIR": "1", "npm_config_cache": str(folder / "npm-cache")}


def measure(folder: Path, cached: bool, settle: float, warm_starts: int) -> Result:
    clone, log = folder / "clone", folder / "output"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    env = environment(folder, cached)
    platform = Platform(clone, env, log)
    try:
        cold = platform.seconds_to_sign_in()
        print(f"cold: {cold:.1f} s", flush=True)
        warm = []
        for _ in range(warm_starts):
            platform.stop()
            platform = Platform(clone, env, log)
            warm.append(platform.seconds_to_sign_in())
            print(f"warm: {warm[-1]:.1f} s", flush=True)
        time.sleep(settle)
        sizes = memory(platform.supervisor())
    finally:
        platform.stop()
    median = sorted(warm)[len(warm) // 2]
    return Result(round(cold, 2), round(median, 2), round(sum(sizes.values()), 1), sizes, os.cpu_count() or 1, cached)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--cached", action="store_true", help="use the machine's package caches")
    parser.add_argument("--settle", type=float, default=20.0, help="seconds of running before memory is read")
    parser.add_argument("--warm-starts", type=int, default=3)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="plstack-bench-"))
    folder.chmod(0o755)  # the embedded servers' account passes through
    try:
        result = measure(folder, options.cached, options.settle, options.warm_starts)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    values = asdict(result)
    met = {name: values[name] <= limit for name, limit in TARGETS.items()}
    for name, limit in TARGETS.items():
        print(f"{name:<8}{values[name]:>8.1f}   target {limit:>6.1f}   {'met' if met[name] else 'MISSED'}")
    print("  ".join(f"{name} {size:.0f}" for name, size in result.processes_mb.items()))
    if options.json:
        print(json.dumps({**values, "targets": TARGETS, "met": met}))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
