"""The process that replays: `python -m apps.whatif.replaying.child FOLDER`.

Reads FOLDER/input (pickled sides), keeps FOLDER/progress (0 to 1 over all sides) and ends with FOLDER/output (pickled
reports). A process of its own, because a replay takes a whole core for minutes: the worker's other loops go on, it can
be killed at once, and its memory is bounded. It ends by itself when its parent is gone.
"""

import os
import pickle
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from apps.whatif.replaying.material import Material
from apps.whatif.replaying.replay import replay

MEMORY = 6 << 30
TOLD_EVERY_S = 0.5
NICER = 10


def main(folder: Path) -> None:
    os.nice(NICER)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # Written by the process that started this one, in a folder that nobody else may enter.
    sides: list[Material] = pickle.loads((folder / "input").read_bytes())  # noqa: S301
    reports = [replay(side, _teller(folder, index, len(sides))) for index, side in enumerate(sides)]
    (folder / "output.part").write_bytes(pickle.dumps(reports))
    (folder / "output.part").rename(folder / "output")


def _teller(folder: Path, index: int, count: int) -> Callable[[float], None]:
    parent, told = os.getppid(), time.monotonic()

    def tell(done: float) -> None:
        nonlocal told
        if time.monotonic() - told < TOLD_EVERY_S:
            return
        told = time.monotonic()
        if os.getppid() != parent:
            raise SystemExit("whoever asked is gone")
        (folder / "progress.part").write_text(f"{(index + min(1.0, max(0.0, done))) / count:.4f}")
        (folder / "progress.part").rename(folder / "progress")

    return tell


if __name__ == "__main__":
    main(Path(sys.argv[1]))
