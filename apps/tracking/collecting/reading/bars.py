"""Bars of tqdm (also as Lightning and ultralytics draw it), of rich, and of Keras."""

import re
from dataclasses import dataclass

_TQDM = re.compile(
    r"(?P<title>[^|]{0,300}?)\s?(?P<percent>\d{1,3})%\|[^|]{0,300}\|\s*(?P<count>\d{1,12})/(?P<total>\d{1,12})"
    r"\s*(?:\[(?P<inside>[^\]]{0,2000})\]?|$)(?P<after>.*)"
)
_NO_WIDTH = re.compile(
    r"(?P<title>[^|]{0,300}?)\s?(?P<percent>\d{1,3})%\s+(?P<count>\d{1,12})/(?P<total>\d{1,12})\s+\[(?P<inside>[^\]]{0,2000})\](?P<after>.*)"
)
_ULTRALYTICS = re.compile(
    r"(?P<title>[^|━]{0,300}?)\s?(?P<percent>\d{1,3})%\s+[━─╸╺]{1,100}\s+(?P<count>\d{1,12})/(?P<total>\d{1,12})(?P<after>.*)"
)
_KERAS = re.compile(
    r"\s*(?P<count>\d{1,12})/(?P<total>\d{1,12})\s+(?:\[[=>.]{1,100}\]|[━╸╺ ]{5,100}|- (?=\d+m?s\b))(?P<after>.*)"
)
_RICH = re.compile(r"(?P<title>[^━|]{1,200}?)\s*[━╸╺]{3,200}\s*(?P<count>\d{1,12})/(?P<total>\d{1,12})(?P<after>.*)")
# Titles of bars that say how far a run is; any other may be a download, a validation or a conversion.
_OF_RUN = re.compile(r"epoch|train|step|iter|fit|batch|learn|optimi|round|训练", re.IGNORECASE)
_ASIDE = re.compile(r"sanity|valid|\bval\b|\btest|eval|predict", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bar:
    """`title`: what stands before it; `told`: what stands behind it, its times left out."""

    title: str
    count: int
    total: int
    told: str
    is_keras: bool = False

    @property
    def is_full(self) -> bool:
        return self.count >= self.total

    @property
    def is_of_run(self) -> bool:
        """Whether it says how far the run is."""
        return not self.title or bool(_OF_RUN.search(self.title) and not _ASIDE.search(self.title))


def bar_in(text: str) -> Bar | None:
    if "/" not in text:
        return None
    if "%" in text and (found := _TQDM.match(text) or _ULTRALYTICS.match(text) or _NO_WIDTH.match(text)):
        inside = found.groupdict().get("inside") or ""
        told = f"{_postfix(inside)} {found['after']}"
        return _bar(found, found["title"], told)
    if found := _KERAS.match(text):
        return _bar(found, "", found["after"], is_keras=True)
    if "━" in text and (found := _RICH.match(text)):
        return _bar(found, found["title"], found["after"])
    return None


def _bar(found: re.Match[str], title: str, told: str, *, is_keras: bool = False) -> Bar:
    return Bar(title.strip().rstrip(":").strip(), int(found["count"]), int(found["total"]), told.strip(), is_keras)


def _postfix(inside: str) -> str:
    """Of `00:10<00:12,  4.50it/s, loss=0.42` what the program added."""
    parts = inside.split(",", 2)
    return parts[2] if len(parts) > 2 and "<" in parts[0] else ""
