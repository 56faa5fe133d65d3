"""The state of a sampler's random numbers, as JSON: with it the next process goes on where the last one ended."""

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
from optuna.samplers import BaseSampler

MOST_SEED = 2**32
# Where Optuna's samplers, and ours, keep their generators.
PLACES = ("_rng", "_cma_rng")
INNER = ("_random_sampler", "_independent_sampler")


def seed_of(seed: int, past: int, kept: bool) -> int:
    """A seed for NumPy. Trials without a kept state (of an imported study) move on, so that nothing is drawn twice."""
    return (seed if kept or not past else seed + 1_000_003 * past) % MOST_SEED


def kept_state(sampler: BaseSampler) -> dict[str, Any]:
    return {name: _as_json(generator.get_state(legacy=True)) for name, generator in _generators(sampler)}


def restore(sampler: BaseSampler, kept: dict[str, Any]) -> None:
    for name, generator in _generators(sampler):
        if name in kept:
            generator.set_state(_from_json(kept[name]))


def _generators(sampler: BaseSampler, prefix: str = "") -> Iterator[tuple[str, np.random.RandomState]]:
    for place in PLACES:
        if hasattr(sampler, place):
            yield prefix + place, getattr(sampler, place).rng
    for inner in INNER:
        if hasattr(sampler, inner):
            yield from _generators(getattr(sampler, inner), f"{prefix}{inner}.")


def _as_json(state: Any) -> dict[str, Any]:
    _, keys, position, has_gauss, gauss = state
    words = base64.b64encode(np.asarray(keys, dtype="<u4").tobytes()).decode()
    return {"keys": words, "position": int(position), "has_gauss": int(has_gauss), "gauss": float(gauss)}


def _from_json(said: dict[str, Any]) -> Any:
    keys = np.frombuffer(base64.b64decode(said["keys"]), dtype="<u4")
    return ("MT19937", keys, said["position"], said["has_gauss"], said["gauss"])
