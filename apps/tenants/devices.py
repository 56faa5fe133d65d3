"""Describe a browser by its user agent, in a few words that its owner recognises."""

import re
from dataclasses import dataclass

# The first that matches: Edge and Opera call themselves Chrome as well, Chrome calls itself Safari, iPadOS a Mac.
BROWSERS = (
    ("WeChat", re.compile(r"MicroMessenger/")),
    ("Edge", re.compile(r"Edg(?:e|A|iOS)?/")),
    ("Opera", re.compile(r"OPR/")),
    ("Firefox", re.compile(r"(?:Firefox|FxiOS)/")),
    ("Chrome", re.compile(r"(?:Chrome|CriOS|HeadlessChrome)/")),
    ("Safari", re.compile(r"Version/[\d.]+.*Safari/")),
)
SYSTEMS = (
    ("HarmonyOS", re.compile(r"HarmonyOS|OpenHarmony")),
    ("Android", re.compile(r"Android")),
    ("iPhone", re.compile(r"iPhone")),
    ("iPad", re.compile(r"iPad")),
    ("Windows", re.compile(r"Windows")),
    ("macOS", re.compile(r"Macintosh|Mac OS X")),
    ("ChromeOS", re.compile(r"CrOS")),
    ("Linux", re.compile(r"Linux|X11")),
)
PHONES = {"HarmonyOS", "Android", "iPhone"}


@dataclass(frozen=True, slots=True)
class Device:
    """Empty strings for what is not known; `icon` is a Tabler name."""

    browser: str
    system: str
    icon: str


def device_of(user_agent: str) -> Device:
    browser, system = _first(BROWSERS, user_agent), _first(SYSTEMS, user_agent)
    icon = "device-mobile" if system in PHONES else "device-tablet" if system == "iPad" else "device-laptop"
    return Device(browser, system, icon if browser or system else "terminal-2")


def _first(known: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> str:
    return next((name for name, pattern in known if pattern.search(text)), "")
