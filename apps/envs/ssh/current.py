"""What a guest may see, re-read every few seconds during a session, so that a revoked share ends here too."""

import asyncio
import time
from uuid import UUID

from django.db import Error as DatabaseError

from apps.common.grants import BLIND_S
from apps.common.scoping import acting
from apps.envs.ssh import session_auth
from apps.envs.ssh.namespace import Namespace, namespace_of
from apps.envs.ssh.session_auth import Guest
from apps.envs.ssh.workers import in_thread

FRESH_S = 10.0


class CurrentNamespace:
    """The namespace of one SFTP or scp session, for its concurrent requests."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._known: Namespace | None = None
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def get(self) -> Namespace:
        """Raises a `DomainError` if the guest may not see anything any more."""
        async with self._reading:
            now = time.monotonic()
            if self._known is not None and now - self._read_at <= FRESH_S:
                return self._known
            try:
                self._known, self._read_at = await in_thread(self._load), now
            except DatabaseError:
                if self._known is None or now - self._read_at > BLIND_S:
                    raise
            return self._known

    async def allows(self, root_id: UUID, *, write: bool) -> bool:
        """Whether files that were opened in this tree may still be used."""
        roots = [place.root for place in (await self.get()).places if place.root.id == root_id]
        return any(root.writable or not write for root in roots)

    def _load(self) -> Namespace:
        actor = session_auth.actor_of(self._guest)
        with acting(actor):
            return namespace_of(self._guest, actor)
