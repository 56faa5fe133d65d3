"""Carries out the steps of a build, one after the other, in the image that is to change.

Started as `build.py <folder with plan.json> <folder of the files> <folder for answers> <what earlier builds kept of
steps> <where this one keeps its own> <what stages pass on> <number of the part>`; the two before the last but one are
not there where nothing is cached. The plan is the platform's; what this writes, `result.json`, is the tenant's own
program's and so worth no more to the platform than a log. An earlier part leaves what later ones take of it, and ends.
When all steps of the last one are done it waits until the platform has saved the image, and ends as `answer.json` says.
Its exit code alone can be relied on: no program of a step outlives the step, and none can look into this one. Standard
library only.
"""

import ctypes
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

# Beside this file, wherever it is mounted.
import as_root  # type: ignore[import-not-found]
import passing_on  # type: ignore[import-not-found]
import step_cache  # type: ignore[import-not-found]

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
BROKEN = 3
"""The exit code of what no step may bring about: nothing that it left is kept. 0 and 1 are what `main` says."""
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
PARENT = 1  # in /proc/<pid>/stat, behind the name


class StepFailed(Exception):
    """`status`: how the step's program ended; None where there was none."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


def main(plan_folder: Path, files: Path, answers: Path, cached: Path, kept: Path, passed_on: Path, number: int) -> int:
    """The exit code: 0 once the image is saved, or a part before it is done; 1 where it is not."""
    for left in ("result.json", "answer.json"):  # of an attempt before
        (answers / left).unlink(missing_ok=True)
    plan = json.loads((plan_folder / "plan.json").read_text())
    cache = step_cache.StepCache(plan.get("cache"), cached, kept, number)
    guard()
    if not as_root.become():
        say("This machine's architecture has no stand-in for root: installing system packages will fail.")
    temporary = Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - the sandbox's own
    (temporary / "apt.conf").write_text(APT)
    common = {**os.environ, "APT_CONFIG": f"{temporary}/apt.conf", "HOME": "/root"}
    told = Part(plan, number, files, passed_on, common).carry_out(cache) | {"machine": platform.machine()}
    cache.publish()
    if "failed" in told or number == len(plan["parts"]) - 1:
        write(answers / "result.json", told)
    if "failed" in told:
        return 1
    if number < len(plan["parts"]) - 1:
        return 0
    say("All steps are done. Saving the image…")
    return wait(answers / "answer.json")


class Part:
    """The steps of one base image. Steps are numbered over all parts."""

    def __init__(self, plan: dict[str, Any], number: int, files: Path, passed_on: Path, common: dict[str, str]) -> None:
        self._parts, self._number = plan["parts"], number
        self._files, self._passed_on, self._common = files, passed_on, common
        self._all = [step for part in self._parts for step in part["steps"]]
        self._before = sum(len(part["steps"]) for part in self._parts[:number])
        self._is_last = number == len(self._parts) - 1

    def carry_out(self, cache: Any) -> dict[str, Any]:
        """What `result.json` says. `cached`: how many steps were taken from the cache, also of parts before."""
        part = self._parts[self._number]
        if len(self._parts) > 1:
            say(f"Stage {part['name']}, which begins on {part['base']}:")
        base = os.getcwd()  # the base image's own
        cached = passing_on.cached_before(self._passed_on, self._number)
        for number, step in enumerate(part["steps"], self._before + 1):
            where = f"[{number}/{len(self._all)}]"
            say(f"{where} line {step['line']}: {step['text']}")
            began = time.monotonic()
            try:
                if cache.take(number):
                    cached += 1
                    say(f"{where} from cache")
                    continue
                cache.watch(number)
                os.chdir(base)
                self._do(step)
            except (StepFailed, passing_on.Refused, OSError, ValueError) as error:
                return self._failed(number, error, cached)
            end_children()
            cache.keep(number, is_as_planned(step, self._files))
            say(f"{where} {time.monotonic() - began:.1f} s")
        if cache.problem:
            say(f"Not all steps are kept in the cache: {cache.problem}")
        return self._pass_on(part["exports"], cached)

    def _do(self, step: dict[str, Any]) -> None:
        if step["do"] == "take":
            archive = self._passed_on / str(step["part"]) / f"{step['export']}.tar"
            passing_on.put_in_place(archive, step["target"], step["mode"])
        else:
            DO[step["do"]](step, self._files, self._common)

    def _pass_on(self, exports: list[dict[str, Any]], cached: int) -> dict[str, Any]:
        """Leave what later parts take of this one."""
        if self._is_last:
            return {"done": True, "cached": cached}
        folder, taker = self._passed_on / str(self._number), len(self._all)
        try:
            passing_on.clear(folder)
            for number, export in enumerate(exports):
                taker = self._step_in(export["line"])
                passing_on.leave(export["paths"], folder / f"{number}.tar", hidden=str(self._passed_on.parent))
            passing_on.note_cached(folder, cached)
        except (passing_on.Refused, OSError, ValueError) as error:
            return self._failed(taker, error, cached)
        return {"cached": cached}

    def _step_in(self, line: int) -> int:
        """The number of the step that takes what this part was to leave."""
        numbers = (number for number, step in enumerate(self._all, 1) if step["line"] == line)
        return next(number for number in numbers if self._all[number - 1]["part"] == self._number)

    def _failed(self, number: int, error: Exception, cached: int) -> dict[str, Any]:
        end_children()
        say(f"[{number}/{len(self._all)}] failed: {error}")
        status = error.status if isinstance(error, StepFailed) else None
        return {"failed": number, "status": status, "error": str(error)[:500], "cached": cached}


def guard() -> None:
    """Steps cannot look into this process, and whatever they leave running becomes its child. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((PR_SET_DUMPABLE, 0), (PR_SET_CHILD_SUBREAPER, 1)):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def end_children() -> None:
    """What a step has left running ends with it: the next one finds files alone, be they cached or not."""
    while True:
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{entry}/stat", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[PARENT]) == os.getpid():
                    os.kill(int(entry), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def is_as_planned(step: dict[str, Any], files: Path) -> bool:
    """Whether the files that were copied are those that the plan was made for."""
    for source, digest in step.get("digests", {}).items():
        with open(files / source, "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                return False
    return True


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


def guarded_main() -> int:
    """Python would end with 1 for an exception, as a build does whose step has failed."""
    try:
        plan, files, answers, cached, kept, passed_on = (Path(argument) for argument in sys.argv[1:7])
        return main(plan, files, answers, cached, kept, passed_on, int(sys.argv[7]))
    except BaseException:
        traceback.print_exc()
        return BROKEN


if __name__ == "__main__":
    sys.exit(guarded_main())
