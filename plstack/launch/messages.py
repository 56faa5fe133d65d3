"""Collect messages from Python and templates, merge them into the catalogues and compile those, all with Babel.

English is the source language, so only the other languages have catalogues. Runs in the environment.
"""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import django
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("zh_Hans",)
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), None),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
RENAMED = re.compile(r"\b(\w*gettext\w*) as (?!_\b)(\w+)")
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|%[sd]|\{(\w*)\}")


def compile_messages(locale: Path) -> None:
    """Write the `.mo` beside every `.po`; entries marked fuzzy are left out, as Django would show the source text."""
    for po in locale.glob("*/LC_MESSAGES/*.po"):
        with po.open("rb") as source:
            catalog = read_po(source)
        buffer = io.BytesIO()
        write_mo(buffer, catalog)
        temporary = po.with_suffix(".mo.new")
        temporary.write_bytes(buffer.getvalue())
        temporary.replace(po.with_suffix(".mo"))


def collect(root: Path = ROOT) -> Catalog:
    """Every message that the code and the templates name, with the files that name it."""
    catalog = Catalog(charset="utf-8")
    for path in _modules(root):
        _add(catalog, path.relative_to(root), path.read_bytes())
    for path in sorted([*root.glob("templates/**/*.html"), *root.glob("templates/**/*.txt")]):
        text = templatize(path.read_text(), origin=str(path.relative_to(root)))
        # Text between messages is blanked out but keeps its indentation, which Python's tokenizer would reject.
        _add(catalog, path.relative_to(root), "\n".join(map(str.strip, text.splitlines())).encode())
    return catalog


def _modules(root: Path) -> list[Path]:
    found = sorted([*root.glob("apps/**/*.py"), *root.glob("plstack/**/*.py")])
    return [path for path in found if path.parent.name != "migrations"]


def _add(catalog: Catalog, path: Path, source: bytes) -> None:
    for _, message, _, context in extract(
        "python", io.BytesIO(source), keywords=KEYWORDS, options={"encoding": "utf-8"}
    ):
        if message and message != ("", ""):
            flags = ["python-format"] if "%(" in str(message) else []
            catalog.add(message, locations=[(path.as_posix(), 0)], context=context, flags=flags)


def catalogue_path(language: str, root: Path = ROOT) -> Path:
    return root / "locale" / language / "LC_MESSAGES" / "django.po"


def update(language: str, root: Path = ROOT) -> int:
    """Bring the catalogue of a language up to date with the code; returns how many messages lack a translation."""
    path = catalogue_path(language, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    catalog = Catalog(locale=language, charset="utf-8")
    if path.exists():
        with path.open("rb") as source:
            catalog = read_po(source, locale=language)
    catalog.update(collect(root), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    buffer = io.BytesIO()
    # Without places: the catalogue changes when a sentence does, not when a file moves. The check names them.
    write_po(buffer, catalog, width=120, no_location=True, omit_header=False, ignore_obsolete=True)
    stable = re.sub(rb'^"(POT-Creation-Date|PO-Revision-Date|Generated-By|Last-Translator|Language-Team):.*\\n"\n', b"",
                    buffer.getvalue(), flags=re.MULTILINE)  # fmt: skip
    path.write_bytes(stable)
    return sum(1 for message in catalog if message.id and not _is_translated(message))


def problems(language: str, root: Path = ROOT) -> Iterator[str]:
    """The problems of a catalogue: missing, untranslated, fuzzy or obsolete messages, and different placeholders."""
    path = catalogue_path(language, root)
    if not path.exists():
        yield f"{path.relative_to(root)} is missing"
        return
    with path.open("rb") as source:
        catalog = read_po(source, locale=language)
    wanted = collect(root)
    have = {(message.id, message.context): message for message in catalog if message.id}
    need = {(message.id, message.context): message for message in wanted if message.id}
    for key, message in need.items():
        where = message.locations[0][0] if message.locations else "?"
        if key not in have:
            yield f"not in the catalogue: {message.id!r} ({where})"
        elif have[key].fuzzy:
            yield f"marked fuzzy: {message.id!r} ({where})"
        elif not _is_translated(have[key]):
            yield f"not translated: {message.id!r} ({where})"
        elif _placeholders(have[key].string) - _placeholders(message.id):
            yield f"placeholders differ: {message.id!r} and {have[key].string!r} ({where})"
    yield from (f"no longer used: {message.id!r}" for key, message in have.items() if key not in need)
    yield from _renamed(root)


def _renamed(root: Path) -> Iterator[str]:
    """Imports that rename gettext, so that its messages are not collected."""
    for path in _modules(root):
        for name, other in RENAMED.findall(path.read_text()):
            yield f"its messages are not seen: {name} as {other} ({path.relative_to(root)})"


def _is_translated(message: Message) -> bool:
    return all(message.string) if isinstance(message.string, (tuple, list)) else bool(message.string)


def _placeholders(text: object) -> set[str]:
    joined = " ".join(text) if isinstance(text, (tuple, list)) else str(text)
    return {match[0] for match in PLACEHOLDER.finditer(joined)}


def main(command: str) -> int:
    """`update` writes the catalogues, `compile` the binary ones, `check` prints what is wrong and fails on it."""
    if command == "compile":
        compile_messages(ROOT / "locale")
        return 0
    django.setup()  # templatize reads the settings
    if command == "update":
        for language in LANGUAGES:
            print(f"{catalogue_path(language).relative_to(ROOT)}: {update(language)} to translate")
        return 0
    found = [f"{language}: {problem}" for language in LANGUAGES for problem in problems(language)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
