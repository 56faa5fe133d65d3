"""Short commands of the system, as root, that either work or say why not. Standard library only."""

import subprocess

TIMEOUT_S = 20


def run(*argv: str, given: str = "") -> str:
    """What it prints; `given` is its input. Raises OSError with its own words where it fails."""
    try:
        done = subprocess.run(argv, input=given.encode(), capture_output=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{argv[0]} takes too long") from error
    if done.returncode:
        raise OSError(done.stderr.decode(errors="replace").strip() or f"{argv[0]} ended with {done.returncode}")
    return done.stdout.decode(errors="replace")
