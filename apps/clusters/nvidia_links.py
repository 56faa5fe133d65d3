"""How NVIDIA cards are connected, as NVML reports it: NVLink, directly or through switches, and the PCIe between them.

NVML API Reference, "NvLink Methods" and `nvmlDeviceGetTopologyCommonAncestor`. Read
against the stand-in of the tests only: no machine with NVLink has run this yet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pynvml

from apps.clusters.card_links import Link

# Two chips on one board share a bridge of their own.
_LEVELS: Mapping[int, Link] = {
    pynvml.NVML_TOPOLOGY_INTERNAL: Link.PIX,
    pynvml.NVML_TOPOLOGY_SINGLE: Link.PIX,
    pynvml.NVML_TOPOLOGY_MULTIPLE: Link.PXB,
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: Link.PHB,
    pynvml.NVML_TOPOLOGY_NODE: Link.NODE,
    pynvml.NVML_TOPOLOGY_SYSTEM: Link.SYS,
}
SWITCH = "switch"


def pci_address(handle: Any) -> str:
    """As sysfs names it, `0000:18:00.0`. Raises NVMLError."""
    return _address(pynvml.nvmlDeviceGetPciInfo(handle))


def links(cards: Sequence[tuple[Any, str, str]]) -> dict[str, tuple[tuple[str, str], ...]]:
    """By uuid, the links to the others. `cards`: handle, uuid and PCI address of each."""
    joined = {uuid: _nvlinks(handle) for handle, uuid, _address in cards}
    found: dict[str, list[tuple[str, str]]] = {uuid: [] for _handle, uuid, _address in cards}
    for (one, first, here), (other, second, there) in combinations(cards, 2):
        # Through switches as many links are joined as the card with fewer of them has.
        switched = min(joined[first][SWITCH], joined[second][SWITCH])
        count = min(joined[first][there], joined[second][here]) or switched
        link = f"NV{count}" if count else _level(one, other)
        if link:
            found[first].append((second, link))
            found[second].append((first, link))
    return {uuid: tuple(pairs) for uuid, pairs in found.items()}


def _nvlinks(handle: Any) -> Counter[str]:
    """How many active links the card has to each PCI address, and to switches."""
    found: Counter[str] = Counter()
    for number in range(pynvml.NVML_NVLINK_MAX_LINKS):
        try:
            if not pynvml.nvmlDeviceGetNvLinkState(handle, number):
                continue
            found[_remote(handle, number)] += 1
        except pynvml.NVMLError as error:
            if error.value in (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_INVALID_ARGUMENT):
                break  # a card without NVLink, or past its last link
    return found


def _remote(handle: Any, number: int) -> str:
    if pynvml.nvmlDeviceGetNvLinkRemoteDeviceType(handle, number) == pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH:
        return SWITCH
    return _address(pynvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, number))


def _address(info: Any) -> str:
    """NVML writes the domain with eight digits, the kernel with four."""
    told = info.busId.decode() if isinstance(info.busId, bytes) else str(info.busId)
    domain, _, rest = told.lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _level(one: Any, other: Any) -> Link | None:
    try:
        return _LEVELS.get(pynvml.nvmlDeviceGetTopologyCommonAncestor(one, other))
    except pynvml.NVMLError:
        return None
