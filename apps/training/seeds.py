"""Where a run's random numbers begin, as far as the platform sets it or can see it."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from apps.training.models import Run

SEED, HASH_SEED = "PLSTACK_SEED", "PYTHONHASHSEED"
# What numpy, torch and Python's hashing take.
SEEDS = 2**32
_NAMED = re.compile(r"(^|[-_.])(seed|random[-_]?state)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Seed:
    """`name` is a variable's or an argument's. `by_platform`: its owner did not choose it."""

    name: str
    value: str
    by_platform: bool


def seed_variables(parent: Run | None) -> Mapping[str, str]:
    """For the program's environment, where what people set wins. A later version keeps its parent's."""
    before = parent.workload.frozen_spec.env.get(SEED) if parent is not None else None
    value = before or str(secrets.randbelow(SEEDS))
    return {HASH_SEED: value, SEED: value}


def seeds_of(run: Run) -> list[Seed]:
    """Those of the platform, then variables and arguments that are called seeds."""
    env, own = run.workload.frozen_spec.env, {name for name, _value in run.environment}
    names = [name for name in (SEED, HASH_SEED) if name in env] + sorted(
        name for name in own if _NAMED.search(name) and name != HASH_SEED
    )
    found = [Seed(name, env.get(name, ""), name not in own) for name in names]
    return found + [Seed(name, value, False) for name, value in run.arguments if value and _NAMED.search(name)]
