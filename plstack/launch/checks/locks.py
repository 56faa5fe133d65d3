"""requirements.txt and deploy/locks/*.txt: complete for pyproject.toml, hashed, in agreement, without addresses."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOCKS = {
    "deploy/locks/dev.txt": ["--extra", "kubernetes", "--extra", "alipay", "--extra", "dev"],
    "requirements.txt": ["--extra", "kubernetes", "--extra", "alipay"],
    "deploy/locks/quickstart.txt": [],
}
TOOLS = {f"deploy/locks/{name}.txt": f"deploy/locks/{name}.in" for name in ("node", "installer", "mutants")}
COMPILE = ["-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes",
           "--no-emit-index-url", "--no-emit-find-links", "--no-header"]  # fmt: skip
ADDRESS = re.compile(r"://|--(?:extra-)?index|--find-links|(?:^|\s)/\w")


def main(write: bool) -> int:
    if write:
        return _write()
    found = list(problems(ROOT))
    print("\n".join(found))
    return 1 if found else 0


def _write() -> int:
    """The widest lock decides the versions; the others are parts of it, so that one environment serves them all."""
    for lock, extras in LOCKS.items():
        constraint = [] if lock.endswith("dev.txt") else ["--constraint", "deploy/locks/dev.txt"]
        subprocess.check_call([sys.executable, *COMPILE, "pyproject.toml", *extras, *constraint, "-o", lock], cwd=ROOT)
    for lock, source in TOOLS.items():
        subprocess.check_call([sys.executable, *COMPILE, source, "-o", lock], cwd=ROOT)
    return 0


def problems(root: Path) -> Iterator[str]:
    """What is wrong with the locks under a checkout."""
    texts = {lock: (root / lock).read_text() for lock in (*LOCKS, *TOOLS)}
    for lock, text in texts.items():
        yield from (f"{lock}: has an address: {line.strip()}" for line in text.splitlines() if ADDRESS.search(line))
        yield from (f"{lock}: {name} has no hash" for name, block in _blocks(text) if "--hash=sha256:" not in block)
    widest = _pins(texts["deploy/locks/dev.txt"])
    for lock in LOCKS:
        yield from (f"{lock}: {pin} differs from dev.txt" for pin in sorted(_pins(texts[lock]) - widest))
    for lock, wanted in _declared(root).items():
        have = {name for name, _ in _blocks(texts[lock])}
        yield from (f"{lock}: lacks {name} of pyproject.toml: make locks" for name in sorted(wanted - have))


def _declared(root: Path) -> dict[str, set[str]]:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    needed = {lock: set(map(_name, project["dependencies"])) for lock in LOCKS}
    for lock, options in LOCKS.items():
        for extra in options[1::2]:
            needed[lock] |= set(map(_name, project["optional-dependencies"][extra]))
    return needed


def _blocks(text: str) -> list[tuple[str, str]]:
    found = re.findall(r"^[A-Za-z0-9].*\n(?:[ \t]+.*\n)*", text, re.MULTILINE)
    return [(_name(block), block) for block in found]


def _pins(text: str) -> set[str]:
    return set(re.findall(r"^[A-Za-z0-9][\w.-]*==[^\s;]+", text, re.MULTILINE))


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9][\w.-]*", requirement)
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else requirement


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["write"]))
