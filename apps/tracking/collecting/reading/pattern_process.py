"""A process of its own in which a person's patterns are matched: one that takes too long is ended, and nothing else is.

It reads `{"patterns": […], "lines": […]}` and writes a list with what was found for each line.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from apps.tracking.collecting.reading.own_patterns import Found, compiled, found_in

TIME_S = 3.0
MEMORY = 512 * 1024 * 1024
_ROOT = Path(__file__).resolve().parents[4]


class TookTooLong(Exception):
    """The patterns did not come to an end with these lines."""


def find(patterns: Sequence[str], lines: Sequence[str], *, time_s: float = TIME_S) -> list[Found]:
    """What the patterns find in each line. Raises `BadPattern`, `TookTooLong`."""
    compiled(patterns)
    if not lines:
        return []
    asked = json.dumps({"patterns": list(patterns), "lines": list(lines), "time_s": time_s})
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=asked.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env={"PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=time_s + 2,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        raise TookTooLong from error
    return [[(name, value, step) for name, value, step in found] for found in json.loads(done.stdout)]


def main() -> None:
    asked = json.load(sys.stdin)
    seconds = max(1, round(asked["time_s"]))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    patterns = compiled(asked["patterns"])
    json.dump([found_in(patterns, line) for line in asked["lines"]], sys.stdout)


if __name__ == "__main__":
    main()
