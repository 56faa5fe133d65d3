"""Carries out the steps of a build, one after the other, in the image that is to change.

Started as `build.py <folder with plan.json> <folder of the files> <folder for answers>`. The plan is the platform's;
what this writes, `result.json`, is the tenant's own program's and so worth no more to the platform than a log. When all
steps are done it waits until the platform has saved the image, and ends as `answer.json` says. Standard library only.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

APT = """APT::Sandbox::User "root";
APT::Get::Assume-Yes "true";
Acquire::Retries "2";
Dpkg::Use-Pty "0";
quiet "1";
"""
QUIET = {
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_BREAK_SYSTEM_PACKAGES": "1",  # the image's Python is there for nothing else
    "PIP_NO_CACHE_DIR": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}
NAMED = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)  # as `drivers.local.oci.saved` has it
LOOK_S = 0.2
ANSWER_S = 6 * 3600  # a large image takes its time into the registry
FETCH_S = 60
COPY_BYTES = 1024 * 1024


class StepFailed(Exception):
    """`status`: how the step's program ended; None where there was none."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


def main(plan_folder: Path, files: Path, answers: Path) -> int:
    """The exit code: 0 once the image is saved."""
    for left in ("result.json", "answer.json"):  # of an attempt before
        (answers / left).unlink(missing_ok=True)
    plan = json.loads((plan_folder / "plan.json").read_text())
    # Beside this file, wherever it is mounted.
    import as_root  # type: ignore[import-not-found]  # noqa: PLC0415

    if not as_root.become():
        say("This machine's architecture has no stand-in for root: installing system packages will fail.")
    temporary = Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - the sandbox's own
    (temporary / "apt.conf").write_text(APT)
    base = os.getcwd()  # the base image's own
    common = {**os.environ, "APT_CONFIG": f"{temporary}/apt.conf", "HOME": "/root"}
    steps = plan["steps"]
    for number, step in enumerate(steps, 1):
        say(f"[{number}/{len(steps)}] line {step['line']}: {step['text']}")
        began = time.monotonic()
        try:
            os.chdir(base)
            DO[step["do"]](step, files, common)
        except (StepFailed, OSError, ValueError) as error:
            say(f"[{number}/{len(steps)}] failed: {error}")
            status = error.status if isinstance(error, StepFailed) else None
            write(answers / "result.json", {"failed": number, "status": status, "error": str(error)[:500]})
            return 1
        say(f"[{number}/{len(steps)}] {time.monotonic() - began:.1f} s")
    say("All steps are done. Saving the image…")
    write(answers / "result.json", {"done": True})
    return wait(answers / "answer.json")


def run(step: dict[str, Any], files: Path, common: dict[str, str]) -> None:
    if step["workdir"]:
        os.makedirs(step["workdir"], exist_ok=True)
    environment = {**QUIET, **common}
    for name, value in step["env"].items():
        environment[name] = NAMED.sub(lambda match: environment.get(match[1] or match[2], match[0]), value)
    done = subprocess.run(
        step["argv"], cwd=step["workdir"] or None, env=environment, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        raise StepFailed(f"it ended with {done.returncode}", done.returncode)


def copy(step: dict[str, Any], files: Path, common: dict[str, str]) -> None:
    for source, target in step["files"]:
        place = Path(target)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            raise StepFailed(f"{target} is a folder already")
        shutil.copyfile(files / source, place)
        place.chmod(step["mode"] or (0o755 if os.access(files / source, os.X_OK) else 0o644))


def fetch(step: dict[str, Any], files: Path, common: dict[str, str]) -> None:
    """By the platform's proxy, which is the only way out and leads to public addresses alone."""
    place = Path(step["target"])
    place.parent.mkdir(parents=True, exist_ok=True)
    with urllib.request.urlopen(step["url"], timeout=FETCH_S) as answer, open(place, "wb") as file:  # noqa: S310
        shutil.copyfileobj(answer, file, COPY_BYTES)
    place.chmod(step["mode"] or 0o600)


def folder(step: dict[str, Any], files: Path, common: dict[str, str]) -> None:
    os.makedirs(step["workdir"], exist_ok=True)


DO = {"run": run, "copy": copy, "fetch": fetch, "folder": folder}


def wait(answer: Path) -> int:
    until = time.monotonic() + ANSWER_S
    while time.monotonic() < until:
        with suppress(OSError, ValueError):
            told = json.loads(answer.read_text())
            say(told["text"])
            return 0 if told["saved"] else 1
        time.sleep(LOOK_S)
    say("The platform has not saved the image: try again.")
    return 1


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - the log


def write(path: Path, told: dict[str, Any]) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(told))
    draft.rename(path)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:4])))
