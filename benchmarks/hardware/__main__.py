"""Run the checks and say what was seen."""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.hardware.bench import Bench, bench
from benchmarks.hardware.checks import CHECKS, WITH_TORCH, Seen


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.hardware")
    parser.add_argument("--site", type=Path, help="folder of packages with PyTorch")
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("benchmarks.hardware needs root: device nodes and user ids of tenants are given out by it")
    wanted = {**CHECKS, **(WITH_TORCH if asked.site else {})}
    try:
        with bench(asked.site) as made:
            found = [_checked(made, name) for name in wanted if name not in asked.without]
            machine = {"card": made.card.model, "kernel": platform.release(), "python": platform.python_version()}
    except LookupError as error:
        sys.exit(f"benchmarks.hardware: {error}")
    if asked.json:
        print(json.dumps({"machine": machine, "checks": found}, indent=1))
    return 0 if all(each["ok"] for each in found) else 1


def _checked(made: Bench, name: str) -> dict[str, Any]:
    check = {**CHECKS, **WITH_TORCH}[name]
    began = time.monotonic()
    seen: Seen = {}
    trouble = ""
    try:
        seen = check(made)
    except Exception as error:
        trouble = f"{type(error).__name__}: {error}"
    seconds = round(time.monotonic() - began, 1)
    print(f"{'FAIL' if trouble else 'ok':5}{name:18}{seconds:6} s  {trouble or seen}", file=sys.stderr, flush=True)
    return {"name": name, "ok": not trouble, "seconds": seconds, "seen": seen, "trouble": trouble}


if __name__ == "__main__":
    sys.exit(main())
