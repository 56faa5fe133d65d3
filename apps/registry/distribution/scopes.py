"""The scopes of a token request: `repository:<name>:<action>,<action>`.

Distribution's "Token Scope Documentation".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.registry.distribution.access import EVERYTHING, Action
from apps.registry.distribution.names import RepositoryName

MOST_SCOPES = 20
ALL = "*"


class BadScope(ValueError):
    """It is written in a way that the specification does not know, or there are too many."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A repository, and what somebody wants to do there. Actions that are unknown are left out."""

    name: RepositoryName
    actions: frozenset[Action]


def parse(texts: Sequence[str]) -> list[Scope]:
    """Scopes of repositories; others, such as the catalogue's, are nobody's and left out. Raises BadScope."""
    words = [word for text in texts for word in text.split(" ") if word]
    if len(words) > MOST_SCOPES:
        raise BadScope("too many scopes")
    return [scope for word in words if (scope := _scope(word)) is not None]


def _scope(word: str) -> Scope | None:
    kind, _, rest = word.partition(":")
    name, _, actions = rest.rpartition(":")
    if not kind or not name or not actions:
        raise BadScope("a scope is <type>:<name>:<actions>")
    if kind != "repository":
        return None
    wanted = set(actions.split(","))
    known = EVERYTHING if ALL in wanted else frozenset(action for action in Action if action.value in wanted)
    try:
        return Scope(RepositoryName.parse(name), known)
    except ValueError as error:
        raise BadScope("a scope names no repository") from error
