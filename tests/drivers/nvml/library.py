"""`stand_in.c` compiled, and programs that have it in place of NVIDIA's library: `pynvml` itself calls it."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("stand_in.c")
ROOT = Path(__file__).parents[3]
FIRST, SECOND = "GPU-11111111-0000-0000-0000-000000000000", "GPU-22222222-0000-0000-0000-000000000001"
TIMEOUT_S = 60


def compiler() -> str | None:
    return shutil.which("cc")


@dataclass(frozen=True, slots=True)
class StandIn:
    """`folder` holds the library and the file of its state, whose lines are described in `stand_in.c`."""

    folder: Path

    @classmethod
    def compiled(cls, folder: Path) -> "StandIn":
        made = cls(folder)
        flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([str(compiler()), *flags, "-o", str(folder / "libnvidia-ml.so.1"), str(SOURCE)], check=True)
        made.say()
        return made

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "LD_LIBRARY_PATH": str(self.folder), "NVML_STAND_IN": str(self.state)}

    def say(self, *lines: str) -> None:
        self.state.write_text("".join(f"{line}\n" for line in lines))

    def ask(self, program: str) -> Any:
        """What the program, Python that runs in a process of its own, leaves in `answer`."""
        script = f"import json, sys\n{program}\njson.dump(answer, sys.stdout)"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S, cwd=ROOT,
            env=self.environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
