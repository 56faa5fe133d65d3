"""`python -m plstack.launch.checks [NAME...]`: all checks, or those named; `-now` names write instead of checking."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from plstack.launch.checks.catalogue import CHECKS, ROOT, WRITERS, Check

AT_ONCE = 2


def main(names: list[str]) -> int:
    known = {check.name: check for check in (*CHECKS, *WRITERS)}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"plstack: there is no check {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    chosen = [known[name] for name in names] or list(CHECKS)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failed = [check.name for check, passed in zip(chosen, pool.map(_run, chosen), strict=True) if not passed]
    print(
        f"{len(chosen) - len(failed)} of {len(chosen)} checks passed"
        + (f"; failed: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


def _run(check: Check) -> bool:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, *check.arguments],
        cwd=ROOT,
        env={**os.environ, **dict(check.environment)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    passed = done.returncode == 0
    outcome = "ok" if passed else "FAILED"
    shown = "" if passed and not check.writes else done.stdout.rstrip() + "\n"
    print(f"{outcome:<7}{check.name:<12}{check.what:<64}{time.monotonic() - began:5.1f} s\n{shown}", end="", flush=True)
    return passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
