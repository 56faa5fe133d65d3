"""A log that is bytes in memory, read as a driver answers: in pieces that may be smaller than asked for."""

from dataclasses import dataclass

from apps.workloads.drivers.base import LogChunk, LogTime


@dataclass
class MemoryLog:
    """`largest`: bytes of one answer. `says_size`: older agents do not."""

    data: bytes
    ended: bool = True
    largest: int = 1 << 20
    times: tuple[LogTime, ...] = ()
    says_size: bool = True
    questions: int = 0

    def __call__(self, offset: int, limit: int) -> LogChunk:
        self.questions += 1
        data = self.data[offset : offset + min(limit, self.largest)]
        end = offset + len(data)
        size = len(self.data) if self.says_size else None
        return LogChunk(data, offset, end, self.ended and end >= len(self.data), self.times, size)
