"""Who speaks between the platform and a node's agent: HMAC-SHA256 over all that is said, each thing said once.

A request carries the node's id, the time, a nonce and a signature over them, its method, path and body. An answer is
signed over the request's nonce, so that neither can be made up, changed, or used twice. Both know one secret, which a
join makes anew.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Mapping

NODE, TIME, NONCE, SIGNATURE = "X-PLStack-Node", "X-PLStack-Time", "X-PLStack-Nonce", "X-PLStack-Signature"
# Clocks of machines may differ by this much; nonces are remembered for twice as long.
SKEW_S = 300


class Forged(Exception):
    """Not signed by who it should be, too old, or said before."""


def request_headers(secret: bytes, node: str, method: str, path: str, body: bytes) -> dict[str, str]:
    """What to send along with a request."""
    at, nonce = str(int(time.time())), secrets.token_hex(16)
    signature = _sign(secret, "request", node, method, path, at, nonce, body)
    return {NODE: node, TIME: at, NONCE: nonce, SIGNATURE: signature}


def check_request(secret: bytes, headers: Mapping[str, str], method: str, path: str, body: bytes) -> str:
    """The nonce of a request that is genuine and recent; whether it is new is for the caller to know. Raises Forged."""
    node, at, nonce = (headers.get(name) or "" for name in (NODE, TIME, NONCE))
    wanted = _sign(secret, "request", node, method, path, at, nonce, body)
    if not hmac.compare_digest(wanted, headers.get(SIGNATURE) or "") or len(nonce) != 32:
        raise Forged("The signature is wrong")
    if not at.isdigit() or abs(time.time() - int(at)) > SKEW_S:
        raise Forged("The clocks differ by more than five minutes")
    return nonce


def answer_signature(secret: bytes, nonce: str, status: int, body: bytes) -> str:
    return _sign(secret, "answer", nonce, str(status), body)


def check_answer(secret: bytes, nonce: str, status: int, body: bytes, signature: str) -> None:
    """Raises Forged unless this is the answer to the request with this nonce."""
    if not hmac.compare_digest(answer_signature(secret, nonce, status, body), signature):
        raise Forged("The answer is not signed by the node")


def _sign(secret: bytes, *parts: str | bytes) -> str:
    """Each part with its length before it, so that none can run into the next."""
    found = hmac.new(secret, digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


class Nonces:
    """Those seen lately, for one process."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}
        self._lock = threading.Lock()

    def use(self, nonce: str) -> None:
        """Raises Forged for one that was used before."""
        now = time.monotonic()
        with self._lock:
            for old in [each for each, until in self._seen.items() if until < now]:
                del self._seen[old]
            if nonce in self._seen:
                raise Forged("This has been said before")
            self._seen[nonce] = now + 2 * SKEW_S
