"""Faults of NVIDIA cards are read from lines as drivers of several generations write them."""

from dataclasses import asdict
from typing import Any

import pytest

from apps.clusters import xids
from apps.clusters.xids import FATAL, Fault, Remedy

STARTED = 1_760_000_000.0


def parsed(line: str) -> Fault | None:
    return xids.parse(line, usec=2_500_000, started=STARTED)


# (line, PCI address, number, pid, program, the rest, what it asks for), from R260 to R610.
LINES = [
    (
        "NVRM: Xid (0000:03:00): 13, 0003 00000000 00008297 00001098 00000000 00000044",
        ("0000:03:00", 13, 0, "", "0003 00000000 00008297 00001098 00000000 00000044"),
        Remedy.APP,
    ),
    ("NVRM: Xid (0000:01:00): 8, Channel 00000020", ("0000:01:00", 8, 0, "", "Channel 00000020"), Remedy.APP),
    (
        "NVRM: Xid (PCI:0000:01:00): 31, Ch 00000003, engmask 00000101, intr 10000000",
        ("0000:01:00", 31, 0, "", "Ch 00000003, engmask 00000101, intr 10000000"),
        Remedy.APP,
    ),
    (
        "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.",
        ("0000:10:1c", 63, 1896, "", "Row Remapper: New row marked for remapping, reset gpu to activate."),
        Remedy.NOTHING,
    ),
    (
        "NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception on (GPC 7, TPC 7, "
        "SM 0): Illegal Instruction Parameter",
        (
            "0000:cb:00", 13, 0, "",
            "Graphics SM Warp Exception on (GPC 7, TPC 7, SM 0): Illegal Instruction Parameter",
        ),
        Remedy.APP,
    ),
    (
        "NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149",
        ("0000:dc:00", 45, 1818990, "python3", "Ch 00000001 caused by previous Xid 149"),
        Remedy.APP,
    ),
    (
        "NVRM: Xid (PCI:0000:1b:00 GPU-I:05): 43, pid=7312, name=python, Ch 00000008",
        ("0000:1b:00", 43, 7312, "python", "Ch 00000008"),
        Remedy.APP,
    ),
    (
        "NVRM: Xid (PCI:0000:00:01.0): 79, pid='<unknown>', name='<unknown>', GPU has fallen off the bus.",
        ("0000:00:01", 79, 0, "", "GPU has fallen off the bus."),
        Remedy.RESTART,
    ),
    ("NVRM: Xid (PCI:0000:01:00): 79", ("0000:01:00", 79, 0, "", ""), Remedy.RESTART),
    (
        "NVRM: Xid (PCI:0002:00:00): 119, pid=1582259, name=nvc:[driver], Timeout after 6s of waiting for RPC response "
        "from GPU1 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20802a02 0x8).",
        (
            "0002:00:00", 119, 1582259, "nvc:[driver]",
            "Timeout after 6s of waiting for RPC response from GPU1 GSP! Expected function 76 (GSP_RM_CONTROL) "
            "(0x20802a02 0x8).",
        ),
        Remedy.RESET,
    ),
    (
        "NVRM: Xid (PCI:0019:01:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000)",
        ("0019:01:00", 149, 0, "", "NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000)"),
        Remedy.NOTHING,
    ),
    (
        "NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
        ("0008:01:00", 154, 0, "", "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"),
        Remedy.RESET,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("line", "told", "remedy"), LINES)
def test_lines_of_old_and_new_drivers_are_read(line: str, told: tuple[str, int, int, str, str], remedy: Remedy) -> None:
    assert parsed(line) == Fault(*told, STARTED + 2.5, STARTED + 2.5, 2_500_000)
    assert xids.remedy(told[1], told[4]) is remedy


@pytest.mark.parametrize(
    "line",
    [
        "NVRM: GPU at PCI:0000:01:00: GPU-34d7319c-5b19-1e75-186d-c187099e4fe5",
        "NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:66:00): abc, pid=2280636",
        "nvidia-nvswitch3: SXid (PCI:0000:c2:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore",
        "python: Xid is what I study",
        "",
    ],
)
def test_other_lines_are_no_faults(line: str) -> None:
    assert parsed(line) is None


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("0x0 (None) to 0x1 (PF FLR)", Remedy.RESET),
        ("0x0 (None) to 0x2 (Node Reboot Required)", Remedy.RESTART),
        ("0x1 (GPU Reset Required) to 0x2 (OS Reboot)", Remedy.RESTART),
        ("0x0 (None) to 0x3 (Drain P2P)", Remedy.NOTHING),
        ("0x0 (None) to 0x4 (Drain and Reset)", Remedy.RESET),
        ("0x1 (GPU Reset Required) to 0x0 (None)", Remedy.NOTHING),
        ("in a way that nobody knows yet", Remedy.NOTHING),
    ],
)
def test_154_says_itself_what_the_card_needs(text: str, remedy: Remedy) -> None:
    assert xids.remedy(154, f"GPU recovery action changed from {text}") is remedy


def test_what_keeps_work_away_and_what_does_not() -> None:
    fatal = {code for code in range(1, 200) if xids.remedy(code, "") in FATAL}
    assert fatal >= {46, 48, 62, 64, 74, 79, 95, 119, 120, 140, 143}
    assert not fatal & {13, 31, 43, 45, 63, 69, 92, 94, 137, 154, 199}


def test_a_card_is_found_however_its_place_is_written() -> None:
    places = ("00000000:3B:00.0", "0000:3b:00.0", "0000:3b:00", " 0000:3b:00.1 ")
    assert {xids.pci_key(place) for place in places} == {"0000:3b:00"}


GOOD = asdict(Fault("0000:01:00", 79, 0, "python", "It is gone", STARTED, STARTED, 7))


def test_a_report_of_another_machine_is_read() -> None:
    assert asdict(Fault.from_json(GOOD)) == GOOD
    assert Fault.from_json({**GOOD, "process": "a\0b" * 99}).process == "ab" * 16


@pytest.mark.parametrize(
    "bad",
    [
        {"at": "inf"},
        {"last_at": float("nan")},
        {"at": 5},
        {"code": -1},
        {"code": 2**15},
        {"pid": -4},
        {"pid": 2**31},
        {"last_usec": 2**63},
        {"code": "seventy"},
        {"pid": None},
    ],
)
def test_nonsense_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Fault.from_json({**GOOD, **bad})
