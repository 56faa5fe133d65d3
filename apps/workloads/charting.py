"""The charts that a live page shows: their new points are pushed to it."""

import math
from collections.abc import Hashable
from typing import Any

from apps.common.feeds import Feed, feeds
from apps.workloads.pushing import ListPushing

MAX_CHARTS = 24


class ChartPushing(ListPushing):
    """In: {"charts": {address: newest point that the page has, in Unix seconds}}, all that it shows.

    Out: {"charts": [address, …]} are those that are pushed from now on; {"chart": address, "series": …} has new points.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.charts: dict[str, tuple[Feed, Hashable]] = {}

    def ask_for_charts(self, wanted: dict[Any, Any]) -> None:
        for url in self.charts.keys() - wanted.keys():
            self._leave_chart(url)
        for url, since in list(wanted.items())[:MAX_CHARTS]:
            if url not in self.charts and isinstance(since, int | float) and math.isfinite(since):
                self._join_chart(str(url), max(0.0, since))
        self.outbox.put({"charts": sorted(self.charts)})

    def _join_chart(self, url: str, since: float) -> None:
        who = self.seen_as(url, self.actor)
        feed = feeds().join(url, since, who, self)
        if feed is not None:
            self.charts[url] = (feed, who)

    def check_charts(self) -> None:
        """After each check of the rights: with others, the charts are others too."""
        for url, (feed, who) in list(self.charts.items()):
            if self.seen_as(url, self.actor) != who:
                self._leave_chart(url)
                self._join_chart(url, feed.since)

    def add_points(self, frame: str) -> None:
        self.outbox.put_frame(frame)

    def unchart(self, url: str) -> None:
        self._leave_chart(url)
        self.outbox.put({"charts": sorted(self.charts)})

    def _leave_chart(self, url: str) -> None:
        feed, _who = self.charts.pop(url, (None, None))
        if feed is not None:
            feed.leave(self)

    def drop_charts(self) -> None:
        for url in list(self.charts):
            self._leave_chart(url)
