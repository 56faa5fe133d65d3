"""Asking every room, and bringing what it found into one order."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.common.actor import Actor
from apps.common.finding.query import Query
from apps.common.finding.sources import Hit, Source
from apps.console.search.collected import SOURCES


@dataclass(frozen=True, slots=True)
class Group:
    """What was found of one kind, best first."""

    source: Source
    hits: Sequence[Hit]


def find(actor: Actor, query: Query, sources: Sequence[Source] = SOURCES) -> list[Group]:
    """Everything that answers and that the actor may see, at most `sources.MOST` of each kind.

    Kinds stand in the order of their best answer: whoever types a receipt's number reads the receipt first.
    """
    if not query:
        return []
    found = [Group(source, list(source.find(actor, query))) for source in sources if source.offered(actor)]
    return sorted((group for group in found if group.hits), key=lambda group: group.hits[0].rank)
