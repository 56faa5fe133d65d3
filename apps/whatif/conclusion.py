"""One sentence on a finished scenario, from its figures: the largest gain, and its cost."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.common.formatting import duration
from apps.whatif.comparing import Figure, OfOrganisation, Verdict

# Below this share of A nothing is worth a word.
WORTH = 0.02
MOST_COSTS = 2


class FigureWords(NamedTuple):
    """The phrases for a figure as a gain of B and as a cost."""

    gain: Callable[[Figure], str]
    cost: Callable[[Figure], str]


def conclusion(figures: Iterable[Figure], organisations: Iterable[OfOrganisation]) -> str:
    telling = [figure for figure in figures if figure.key in _SAYS and abs(figure.relative) >= WORTH]
    gains = _strongest(figure for figure in telling if figure.verdict is Verdict.BETTER)
    losses = _strongest(figure for figure in telling if figure.verdict is Verdict.WORSE)
    costs = [_SAYS[figure.key].cost(figure) for figure in losses[:MOST_COSTS]]
    if len(costs) < MOST_COSTS:
        costs += _hurt(organisations)
    cost = (
        _("%(first)s, and %(second)s") % {"first": costs[0], "second": costs[1]} if len(costs) > 1 else "".join(costs)
    )
    gain = _SAYS[gains[0].key].gain(gains[0]) if gains else ""
    if gain and cost:
        return _("%(gain)s; the price is that %(cost)s.") % {"gain": gain, "cost": cost}
    if gain:
        return _("%(gain)s, and nothing gets noticeably worse.") % {"gain": gain}
    if cost:
        return _("B gains nothing that is measured here, and %(cost)s.") % {"cost": cost}
    return _("B changes nothing that is measured here.")


def _strongest(figures: Iterable[Figure]) -> list[Figure]:
    order = list(_SAYS)
    return sorted(figures, key=lambda figure: (-min(1.0, abs(figure.relative)), order.index(figure.key)))


def _hurt(organisations: Iterable[OfOrganisation]) -> list[str]:
    """The organisation whose waits grew most, if by at least a tenth and a minute."""
    worse = [
        (o.p90.b - o.p90.a, o.name)
        for o in organisations
        if o.p90.a is not None and o.p90.b is not None and o.p90.b - o.p90.a >= max(60.0, 0.1 * o.p90.a)
    ]
    if not worse:
        return []
    longer, name = max(worse)
    return [_("%(name)s waits %(longer)s longer at p90") % {"name": name, "longer": duration(longer)}]


def _percent(figure: Figure) -> dict[str, str]:
    return {"percent": f"{100 * abs(figure.relative):,.0f}"}


def _points(figure: Figure) -> dict[str, str]:
    return {"points": f"{100 * abs((figure.b or 0) - (figure.a or 0)):.1f}"}


def _by(figure: Figure) -> int:
    return abs(int((figure.b or 0) - (figure.a or 0)))


_SAYS: dict[str, FigureWords] = {
    "large_p90": FigureWords(
        lambda f: _("B lets tasks with 4 cards and more wait %(percent)s%% less at p90") % _percent(f),
        lambda f: _("tasks with 4 cards and more wait %(percent)s%% longer at p90") % _percent(f),
    ),
    "mean": FigureWords(
        lambda f: _("B cuts the mean wait by %(percent)s%%") % _percent(f),
        lambda f: _("the mean wait grows by %(percent)s%%") % _percent(f),
    ),
    "p90": FigureWords(
        lambda f: _("B cuts the p90 wait by %(percent)s%%") % _percent(f),
        lambda f: _("the p90 wait grows by %(percent)s%%") % _percent(f),
    ),
    "waiting": FigureWords(
        lambda f: (
            ngettext(
                "B leaves %(count)s task fewer waiting at the end",
                "B leaves %(count)s tasks fewer waiting at the end",
                _by(f),
            )
            % {"count": _by(f)}
        ),
        lambda f: (
            ngettext("%(count)s task more still waits at the end", "%(count)s tasks more still wait at the end", _by(f))
            % {"count": _by(f)}
        ),
    ),
    "revenue": FigureWords(
        lambda f: _("B earns %(percent)s%% more") % _percent(f),
        lambda f: _("revenue falls by %(percent)s%%") % _percent(f),
    ),
    "allocation": FigureWords(
        lambda f: _("B hands out %(points)s points more of the cards") % _points(f),
        lambda f: _("%(points)s points less of the cards are handed out") % _points(f),
    ),
    "fragmentation": FigureWords(
        lambda f: _("B loses %(points)s points less to fragments") % _points(f),
        lambda f: _("%(points)s points more are lost in fragments") % _points(f),
    ),
    "evictions": FigureWords(
        lambda f: (
            ngettext("B pre-empts %(count)s time less", "B pre-empts %(count)s times less", _by(f)) % {"count": _by(f)}
        ),
        lambda f: (
            ngettext("there is %(count)s pre-emption more", "there are %(count)s pre-emptions more", _by(f))
            % {"count": _by(f)}
        ),
    ),
}
