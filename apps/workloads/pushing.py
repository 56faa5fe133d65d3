"""The lists that a live page shows: pushed to it whole, drawn once for all who see the same."""

from collections.abc import Hashable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from apps.common.actor import Actor
from apps.common.hub import Batch, Message
from apps.common.pushed import Page, language_asked, list_at, pages
from apps.tenants.sockets import AuthorisedConsumer, SendQueue
from apps.workloads.audience import Audience

MAX_LISTS = 4


class ListPushing(AuthorisedConsumer):
    """`audience` is whom the connection belongs to, as last checked; `outbox` takes what is sent."""

    audience: Audience

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.outbox = SendQueue(self)
        self.lists: dict[str, tuple[Page, Hashable]] = {}

    @property
    def may_be_told(self) -> bool:
        return self.grant is not None and not self.grant.in_doubt

    def ask_for_lists(self, urls: dict[Any, Any], *, stale: bool) -> None:
        """{element: address}. `stale`: the page may have missed something, so it is sent what there is now."""
        for target, url in list(urls.items())[:MAX_LISTS]:
            self._drop(target)
            found = list_at(url) if isinstance(url, str) else None
            if found is not None and found.target == target:
                self._join(url, stale=stale)
        self.outbox.put({"lists": sorted(self.lists)})

    def _join(self, url: str, *, stale: bool) -> None:
        who = self.seen_as(url, self.actor)
        page = pages().join(url, who, self)
        if page is not None:
            self.lists[page.target] = (page, who)
            page.welcome(self, stale=stale)

    def seen_as(self, url: str, actor: Actor) -> Hashable:
        """By rights and language, and by person where the list at this address shows only their own."""
        audience = Audience.of(actor)
        by_person = bool(audience.own) or "mine" in parse_qs(urlsplit(url).query)
        rights = (actor.organisation_id, actor.platform, actor.permissions, actor.withheld, audience.everyones)
        return (rights, language_asked(self.scope), actor.user_id if by_person else None)

    def touch_lists(self, batch: Batch) -> None:
        """Have those drawn again in which something that this person sees may have changed."""
        for page, _who in self.lists.values():
            if batch.concerns((self.audience, page.of), partial(self._is_in, page)):
                page.touch()

    def _is_in(self, page: Page, message: Message) -> bool:
        return message.get("of") == page.of and self.audience.sees(message)

    def check_lists(self) -> None:
        """After each check of the rights: with others, the lists are others too."""
        for page, who in list(self.lists.values()):
            if self.seen_as(page.url, self.actor) != who:
                self._drop(page.target)
                self._join(page.url, stale=True)

    def miss_lists(self) -> None:
        for page, _who in self.lists.values():
            page.touch()

    def show(self, frame: bytes) -> None:
        self.outbox.put_frame(frame)

    def unlist(self, page: Page) -> None:
        self._drop(page.target)
        self.outbox.put({"lists": sorted(self.lists)})

    def _drop(self, target: str) -> None:
        page, _who = self.lists.pop(target, (None, None))
        if page is not None:
            page.leave(self)

    def drop_lists(self) -> None:
        for target in list(self.lists):
            self._drop(target)
