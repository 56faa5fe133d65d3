"""How far tests search: all of their examples in the properties suite, a tenth of them when they are run by name.

`--hypothesis-profile=thorough` makes the difference; plstack/launch/testing.py says which suite a test belongs to.
"""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

Each = TypeVar("Each")
FEW, THOROUGH, UNSHRUNK = "few", "thorough", "unshrunk"
TENTH = 10
USUAL = settings.get_profile(settings.get_current_profile_name())  # Hypothesis has one for CI and one for desks


def register_profiles() -> None:
    """For tests/conftest.py, before pytest reads which profile is asked for; few examples are the same each time."""
    settings.register_profile(FEW, deadline=None, derandomize=True, max_examples=_few(USUAL.max_examples))
    # For mutation tests (plstack/launch/mutants.py): that a test fails is enough, no smaller example is looked for.
    settings.register_profile(UNSHRUNK, settings.get_profile(FEW), phases=(Phase.explicit, Phase.generate))
    settings.register_profile(THOROUGH, USUAL, deadline=None, print_blob=True)
    settings.load_profile(FEW)


def examples(count: int) -> int:
    """`max_examples` for a test that wants another number than the usual one: `count` when searching thoroughly."""
    return count if _is_thorough() else min(count, _few(count))


def some(everything: Sequence[Each]) -> Sequence[Each]:
    """All when searching thoroughly, else every tenth; mark the test `@pytest.mark.sweep`."""
    return everything if _is_thorough() else everything[::TENTH]


def run_machine(machine: type[RuleBasedStateMachine], *, count: int, steps: int) -> None:
    """Walk `machine` `count` times for up to `steps` steps each; mark the test `@pytest.mark.hypothesis`.

    The same walks each time: what fails in one run fails in the next. Raises what the machine's invariants raise.
    """
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples(count),
            stateful_step_count=steps,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def _is_thorough() -> bool:
    return settings.get_current_profile_name() == THOROUGH


def _few(count: int) -> int:
    return max(3, count // TENTH)
