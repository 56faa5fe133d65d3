"""Chinese names by pinyin: typed letters as a pattern of characters.

The database needs no column for it: "hdyjy" becomes a regular expression in which each place holds every character
whose reading begins so. Characters with several readings are found by each of them.
"""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from unicodedata import combining, normalize

# Letters beyond this many places only narrow what is found already, and each place costs time in the database.
MOST_PLACES = 6
# Ways to cut the letters into syllables that are tried: "xian" is 先 and 西安.
MOST_WAYS = 4
# The common characters are those of GB 2312; these, from names of people and firms, it lacks.
RARE = "喆玥堃镕珺昇翀瑄囧嬛婳媞琤璟晞旻昉暐燊犇琇瑀璘祎芃莀赟镠頔飏骉菓苨炘"


def pattern(letters: str) -> str:
    """A regular expression, for Postgres and Python alike, of names that read so; empty where none can.

    `letters`: full pinyin, initials, or both mixed, in lower case, without tones; ü as v.
    """
    if not (letters.isascii() and letters.isalpha()):
        return ""
    ways = ["".join(_characters(place) for place in way) for way in _ways(letters)]
    return "|".join(dict.fromkeys(ways))


def _ways(letters: str) -> list[tuple[str, ...]]:
    """Ways to read the letters, the ones of fewest places first: whole syllables before initials."""
    ways = sorted(_cuts(letters, MOST_PLACES), key=lambda way: (len(way), _initials(way)))
    return ways[:MOST_WAYS]


def _initials(way: tuple[str, ...]) -> int:
    return sum(1 for place in way if len(place) == 1)


def _cuts(letters: str, places: int) -> Iterator[tuple[str, ...]]:
    if not letters or not places:
        yield ()
        return
    for length in range(min(6, len(letters)), 0, -1):
        place, rest = letters[:length], letters[length:]
        # A syllable may be unfinished at the end of what is typed; in the middle it is whole, or its initial.
        if _characters(place) if not rest or length == 1 else place in _readings():
            for following in _cuts(rest, places - 1):
                yield (place, *following)


@cache
def _characters(beginning: str) -> str:
    """Every character with a reading that begins so, as a class of a regular expression; empty for none."""
    readings = _readings()
    if beginning in readings and len(beginning) > 1:
        found = set(readings[beginning])
    else:
        found = {character for reading, all_ in readings.items() if reading.startswith(beginning) for character in all_}
    return f"[{''.join(sorted(found))}]" if found else ""


@cache
def _readings() -> Mapping[str, str]:
    """Syllables without tones and the characters that are read so."""
    # Phrases, which would tell how a character is read in a word, cost every process 45 MB.
    os.environ.setdefault("PYPINYIN_NO_PHRASES", "true")
    known: Mapping[int, str] = import_module("pypinyin.constants").PINYIN_DICT
    found: dict[str, list[str]] = defaultdict(list)
    for code, tones in known.items():
        if _is_common(chr(code)):
            for reading in {_plain(tone) for tone in tones.split(",")}:
                found[reading].append(chr(code))
    # Interjections such as 嗯 (ng) would only add ways to cut what is typed.
    return {reading: "".join(characters) for reading, characters in found.items() if set(reading) & set("aeiouv")}


def _is_common(character: str) -> bool:
    try:
        return bool(character.encode("gb2312"))
    except UnicodeEncodeError:
        return character in RARE


def _plain(reading: str) -> str:
    """Without tone marks; ü as v."""
    letters = normalize("NFD", reading).replace("u\u0308", "v")
    return "".join(letter for letter in letters if not combining(letter))
