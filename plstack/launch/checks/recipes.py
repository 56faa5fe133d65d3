"""Whether the pins of the platform's images still resolve for Python 3.11, on each architecture that they are for.

Needs the package index, so it is no part of the checks that run everywhere: `make recipes`. Every recipe that is a
runtime has to resolve from wheels alone, and to weigh what it says that it downloads. A recipe with an index of its own
is skipped, with a word, where that index does not answer.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from apps.clusters.architectures import AARCH64, X86_64
from apps.registry.recipes.catalogue import RECIPES
from apps.registry.recipes.recipe import Recipe

PLATFORMS = {X86_64: "x86_64-unknown-linux-gnu", AARCH64: "aarch64-unknown-linux-gnu"}
COMPILE = [sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet", "--no-header", "--format", "pylock.toml",
           "--python-version", "3.11"]  # fmt: skip
AT_ONCE = 2

Lock = dict[str, Any]
TOLERANCE = 0.1
ANSWER_S = 15


def main(keys: list[str]) -> int:
    """`keys`: of recipes, all of them if none."""
    chosen = [recipe for recipe in RECIPES if recipe.requirements and (not keys or recipe.key in keys)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = [problem for problems in pool.map(lambda each: list(_problems(each)), chosen) for problem in problems]
    print("\n".join([*found, f"{len(chosen)} recipes, {len(found)} problems"]))
    return 1 if found else 0


def _problems(recipe: Recipe) -> Iterator[str]:
    if recipe.index_url and not _answers(recipe.index_url):
        print(f"skipped {recipe.key}: {recipe.index_url} does not answer", flush=True)
        return
    for architecture in recipe.architectures or tuple(PLATFORMS):
        lock, error = _resolve(recipe, architecture)
        if error:
            yield f"{recipe.key} on {architecture}: {error}"
            continue
        size_mb = _size(lock) / 1e6
        print(f"{recipe.key:<24}{architecture:<9}{len(lock['packages']):>4} packages {size_mb:>7,.0f} MB", flush=True)
        if architecture == X86_64 and abs(size_mb - recipe.download_mb) > max(1, TOLERANCE * size_mb):
            yield f"{recipe.key}: it says {recipe.download_mb} MB and downloads {size_mb:.0f} MB"


def _answers(url: str) -> bool:
    try:
        urlopen(url, timeout=ANSWER_S).close()  # noqa: S310 - the addresses of recipes are ours
    except HTTPError as error:
        return error.code < 500
    except OSError:
        return False
    return True


def _resolve(recipe: Recipe, architecture: str) -> tuple[Lock, str]:
    """What it resolves to, or why it does not."""
    argv = [*COMPILE, "--python-platform", PLATFORMS[architecture]]
    argv += ["--no-build"] if recipe.is_runtime else []
    argv += ["--index-url", recipe.index_url] if recipe.index_url else []
    done = subprocess.run(argv, input="\n".join(recipe.requirements), capture_output=True, text=True, check=False)
    if done.returncode:
        return {}, " ".join(done.stderr.split())[-400:]
    return tomllib.loads(done.stdout), ""


def _size(lock: Lock) -> int:
    """In bytes, of the one file of each package that this platform takes."""
    return sum(_file(package).get("size", 0) for package in lock["packages"])


def _file(package: Lock) -> Lock:
    wheels: list[Lock] = package.get("wheels") or [package.get("sdist", {})]
    return wheels[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
