"""How the two ends of a channel begin: the server names the versions it speaks, the client chooses, both prove the key.

    server: {"channel": "plstack", "versions": [lowest, highest], "nonce": …}
    client: {"version": …, "nonce": …, "proof": …}
    server: {"proof": …, "verbs": […]}

Shims outlive upgrades of the platform, so either end may be the older one. Within a version verbs may be added: an end
that lacks one says so by its list. Without a key the proofs are empty; then it is for the server to know its peer. Each
proof covers both nonces and the versions, so none can be sent again, or sent back, or be about another version.
"""

import hmac
import secrets
import socket
from collections.abc import Iterable

from apps.workloads.drivers.channel import frames
from apps.workloads.drivers.channel.frames import Broken

NAME = "plstack"
VERSIONS = (1, 1)
"""Lowest and highest that this code speaks. A change that an older end would misread takes the next number."""

MAX_GREETING = 16 * 1024


class NoCommonVersion(Broken):
    """One of the two ends is too old for the other."""


def welcome(stream: socket.socket, key: bytes | None, verbs: Iterable[str], timeout_s: float) -> None:
    """The server's part. Raises OSError for whoever is not let in."""
    nonce = secrets.token_hex(16)
    frames.send(stream, {"channel": NAME, "versions": VERSIONS, "nonce": nonce}, timeout_s=timeout_s)
    answer = _received(stream, timeout_s)
    version, theirs = answer.get("version"), str(answer.get("nonce"))
    if not isinstance(version, int) or not VERSIONS[0] <= version <= VERSIONS[1]:
        raise NoCommonVersion("no common version")
    told = (*map(str, VERSIONS), str(version), nonce, theirs)
    _check(key, answer.get("proof"), "client", *told)
    frames.send(stream, {"proof": _proof(key, "server", *told), "verbs": sorted(verbs)}, timeout_s=timeout_s)


def introduce(
    stream: socket.socket, key: bytes | None, timeout_s: float, versions: tuple[int, int] = VERSIONS
) -> frozenset[str]:
    """The client's part: the verbs that the server knows. Raises OSError for anything but a server with that key."""
    hello = _received(stream, timeout_s)
    lowest, highest = _range(hello)
    version = min(highest, versions[1])
    if version < max(lowest, versions[0]):
        raise NoCommonVersion("no common version")
    nonce = secrets.token_hex(16)
    told = (str(lowest), str(highest), str(version), str(hello.get("nonce")), nonce)
    proof = _proof(key, "client", *told)
    frames.send(stream, {"version": version, "nonce": nonce, "proof": proof}, timeout_s=timeout_s)
    answer = _received(stream, timeout_s)
    _check(key, answer.get("proof"), "server", *told)
    verbs = answer.get("verbs")
    return frozenset(map(str, verbs if isinstance(verbs, list) else ()))


def _received(stream: socket.socket, timeout_s: float) -> dict[str, object]:
    frame = frames.receive(stream, timeout_s, largest=MAX_GREETING)
    if frame is None:
        raise Broken("the stream ended within the greeting")
    return frame.head


def _range(hello: dict[str, object]) -> tuple[int, int]:
    found = hello.get("versions")
    if hello.get("channel") != NAME or not isinstance(found, list) or [type(each) for each in found] != [int, int]:
        raise Broken("no channel of the platform's")
    return found[0], found[1]


def _proof(key: bytes | None, *parts: str) -> str:
    """Each part with its length before it, so that none can run into the next."""
    if key is None:
        return ""
    encoded = [part.encode(errors="surrogatepass") for part in parts]
    return hmac.digest(key, b"".join(len(each).to_bytes(4, "big") + each for each in encoded), "sha256").hex()


def _check(key: bytes | None, shown: object, *parts: str) -> None:
    if not hmac.compare_digest(_proof(key, *parts).encode(), str(shown).encode(errors="replace")):
        raise Broken("not proved")
