"""What NVIDIA's library says of how cards are connected, over `pci`, `nvlinks` and `levels` of a `FakeCard`."""

from types import SimpleNamespace
from typing import Any

import pynvml


class FakeLinks:
    def nvmlDeviceGetPciInfo(self, card: Any) -> Any:
        return SimpleNamespace(busId=card.pci.encode())

    def nvmlDeviceGetTopologyCommonAncestor(self, one: Any, other: Any) -> int:
        if other.uuid not in one.levels:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return one.levels[other.uuid]

    def _nvlink(self, card: Any, number: int) -> tuple[bool, str]:
        if not card.nvlinks:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        if number >= len(card.nvlinks):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return card.nvlinks[number]

    def nvmlDeviceGetNvLinkState(self, card: Any, number: int) -> int:
        return int(self._nvlink(card, number)[0])

    def nvmlDeviceGetNvLinkRemoteDeviceType(self, card: Any, number: int) -> int:
        direct = self._nvlink(card, number)[1]
        return pynvml.NVML_NVLINK_DEVICE_TYPE_GPU if direct else pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH

    def nvmlDeviceGetNvLinkRemotePciInfo(self, card: Any, number: int) -> Any:
        return SimpleNamespace(busId=self._nvlink(card, number)[1].encode())
