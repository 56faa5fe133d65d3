"""The pages of the navigation, found by their names in either language."""

from collections.abc import Iterable, Iterator

from django.urls import reverse
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.finding.query import Query
from apps.common.finding.sources import Hit, Source, best
from apps.common.finding.words import in_both_languages
from apps.console.navigation import CONSOLE, Entry, portal


def _find(actor: Actor, query: Query) -> Iterable[Hit]:
    return best(_hits(CONSOLE if actor.platform else portal(), actor, query, None))


def _hits(tree: tuple[Entry, ...], actor: Actor, query: Query, group: Entry | None) -> Iterator[Hit]:
    for entry in tree:
        if entry.permission is not None and not actor.may(entry.permission):
            continue
        yield from _hits(entry.children, actor, query, entry)
        rank = query.rank(*in_both_languages(entry.label))
        if rank is not None and entry.url_name:
            yield Hit(str(entry.label), reverse(entry.url_name), rank, str(group.label) if group else "")


PAGES = Source(
    name="pages", label=pgettext_lazy("of the site", "Pages"), icon="layout-dashboard", find=_find, for_all=True
)
