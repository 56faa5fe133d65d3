"""Streaming responses: each breaks off soon after the right to read it has ended."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from apps.common.access import Access, Actors
from apps.common.actor import Actor
from apps.common.grants import Grant
from apps.common.permissions import Permission


class Stream(StreamingHttpResponse):
    """`visible` looks up what is sent, for the present actor, and raises a `DomainError` once they may not see it.

    The only streaming response: `requires` and `ScopedView` refuse any other.
    """

    def __init__(
        self,
        parts: AsyncIterator[bytes] | AsyncIterator[str],
        *,
        visible: Callable[[Actor], object],
        content_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(parts, content_type=content_type, headers=dict(headers or {}))
        self.parts = parts
        self.visible = visible
        self.grant: Grant | None = None

    def bind(self, actors: Actors, access: Access) -> None:
        """Called by the route's guard: set the actors whose right keeps the stream going."""
        self.grant = Grant(actors, access, self.visible)

    async def release(self) -> None:
        """Close the source of the parts, which Django leaves to the garbage collector if a stream breaks off."""
        if isinstance(self.parts, AsyncGenerator):
            await self.parts.aclose()


async def in_threads(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Parts for a stream: what makes them, such as reading and packing, blocks a thread and never the event loop."""
    step = sync_to_async(_next, thread_sensitive=False)
    while (part := await step(parts)) is not None:
        if part:
            yield part


def _next(parts: Iterator[bytes]) -> bytes | None:
    return next(parts, None)


def while_holding(actor: Actor, *permissions: Permission) -> Callable[[Actor], object]:
    """A `visible` for rows without one object: every given permission that `actor` holds now must still be held."""
    needed = [permission for permission in permissions if actor.may(permission)]

    def visible(now: Actor) -> None:
        for permission in needed:
            now.require(permission)

    return visible
