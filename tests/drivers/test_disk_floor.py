"""Who has to end when a machine's disk is full: the rule that all shims apply alike."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from apps.workloads.drivers.local.disk_floor import ENDING_S, FRESH_S, Pressure, Record, Seat, Space, chosen

GIB = 1024**3
amounts = st.integers(0, 100 * GIB)
records = st.dictionaries(
    st.text("abc", min_size=1, max_size=2),
    st.builds(Record, amounts, amounts, st.integers(0, 10**6), st.integers(0, 10**6), st.booleans(), st.floats(0, 200)),
    max_size=5,
)


def space(free_bytes: int = 100 * GIB, free_files: int = 10**7) -> Space:
    return Space(free_bytes, 200 * GIB, free_files, 2 * 10**7)


@given(records)
def test_nobody_ends_while_there_is_room(found: dict[str, Record]) -> None:
    assert chosen(space(), found, 100.0) is None


@given(records, st.integers(0, 2 * GIB - 1), st.booleans())
def test_whoever_ends_is_alive_and_helps(found: dict[str, Record], left: int, of_files: bool) -> None:
    place = space(free_files=left % 50_000) if of_files else space(left)
    name = chosen(place, found, 100.0)
    if name is None:
        return
    each = found[name]
    assert not any(other.ending and 100.0 - other.at < ENDING_S for other in found.values())
    assert not each.ending
    assert 100.0 - each.at < FRESH_S
    grown, held = (each.grown_files, each.held_files) if of_files else (each.grown, each.held)
    floor = place.files_floor if of_files else place.floor
    assert grown > floor // 16 or (place.pressure is Pressure.CRITICAL and held > floor // 4)


def test_who_grows_ends_before_who_holds_more() -> None:
    found = {"holds": Record(held=90 * GIB, at=100.0), "grows": Record(held=GIB, grown=GIB, at=100.0)}
    assert chosen(space(GIB), found, 100.0) == "grows"
    assert chosen(space(GIB), {"holds": found["holds"]}, 100.0) is None
    assert chosen(space(GIB // 4), {"holds": found["holds"]}, 100.0) == "holds"
    assert chosen(space(GIB // 4), {**found, "last": Record(ending=True, at=99.0)}, 100.0) is None


def test_nobody_is_chosen_before_everybody_has_measured_below_the_floor(tmp_path: Path) -> None:
    now = 100.0
    seats = {name: Seat(tmp_path, name, lambda: now) for name in ("fills", "grew", "hangs")}
    seats["hangs"].write(Record(grown=1), now - FRESH_S)
    seats["fills"].write(Record(), now - 1.0)  # before the disk ran short, when it had written nothing yet
    seats["grew"].write(Record(grown=GIB), now)
    assert not seats["grew"].all_measured(now - 0.5)
    seats["fills"].write(Record(grown=9 * GIB), now)
    assert seats["grew"].all_measured(now - 0.5), "who has not looked for seconds is not waited for"
    assert chosen(space(GIB), seats["grew"].read_all(), now) == "fills"
    seats["fills"].write(Record(ending=True), now)
    now += 10 * FRESH_S
    assert seats["grew"].all_measured(now)
