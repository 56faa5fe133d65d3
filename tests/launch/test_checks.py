"""The project's own checks find what they are for."""

import io
import shutil
from pathlib import Path

import pytest
from babel.messages.pofile import read_po, write_po

from plstack.launch import messages
from plstack.launch.checks import catalogue, locks, shape
from plstack.launch.layout import ROOT

PAGE = """{% load i18n %}
<h1>{% translate "Run" %}</h1>
    <p>{% blocktranslate with n=count %}It has "{{ n }}" parts.{% endblocktranslate %}</p>
  <p>{% blocktranslate count n=left %}{{ n }} day{% plural %}{{ n }} days{% endblocktranslate %}</p>
{% if x %}
      {% translate "Stop" context "verb" as stop %}
{% endif %}
"""
CODE = """
from django.utils.translation import gettext_lazy as _, ngettext, pgettext_lazy
title = _("Title")
count = ngettext("%(n)s card", "%(n)s cards", 3)
stop = pgettext_lazy("noun", "Stop")
plain = "not a message"
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "templates" / "a").mkdir(parents=True)
    (tmp_path / "templates" / "a" / "page.html").write_text(PAGE)
    (tmp_path / "apps" / "a").mkdir(parents=True)
    (tmp_path / "apps" / "a" / "code.py").write_text(CODE)
    return tmp_path


def translate(site: Path, *changes: tuple[str, str]) -> None:
    """Translate every message by itself, then change the text of the catalogue."""
    path = messages.catalogue_path("zh_Hans", site)
    catalog = read_po(io.BytesIO(path.read_bytes()), locale="zh_Hans")
    for message in catalog:
        message.string = (message.id[1],) if isinstance(message.id, tuple) else message.id
    buffer = io.BytesIO()
    write_po(buffer, catalog, include_lineno=False, width=120)
    text = buffer.getvalue().decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def test_every_kind_of_message_is_collected(site: Path) -> None:
    found = {(message.id, message.context) for message in messages.collect(site) if message.id}
    assert found == {
        ("Run", None),
        ('It has "%(n)s" parts.', None),
        (("%(n)s day", "%(n)s days"), None),
        ("Stop", "verb"),
        ("Stop", "noun"),
        ("Title", None),
        (("%(n)s card", "%(n)s cards"), None),
    }


def test_a_complete_catalogue_has_no_problems(site: Path) -> None:
    assert messages.update("zh_Hans", site) == 7
    assert len(list(messages.problems("zh_Hans", site))) == 7
    translate(site)
    assert list(messages.problems("zh_Hans", site)) == []
    assert messages.update("zh_Hans", site) == 0
    assert list(messages.problems("zh_Hans", site)) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('msgstr "Title"', 'msgstr ""', "not translated: 'Title'"),
        ('msgid "Title"', 'msgid "Titel"', "not in the catalogue: 'Title'"),
        ('msgid "Title"', 'msgid "Titel"', "no longer used: 'Titel'"),
        ('msgstr[0] "%(n)s cards"', 'msgstr[0] "%(m)s cards"', "placeholders differ"),
        ('msgid "Title"', '#, fuzzy\nmsgid "Title"', "marked fuzzy: 'Title'"),
    ],
)
def test_a_wrong_catalogue_is_seen(site: Path, old: str, new: str, problem: str) -> None:
    messages.update("zh_Hans", site)
    translate(site, (old, new))
    assert any(problem in found for found in messages.problems("zh_Hans", site))


def test_a_file_that_moves_changes_no_catalogue_and_is_named_by_the_check(site: Path) -> None:
    messages.update("zh_Hans", site)
    before = messages.catalogue_path("zh_Hans", site).read_text()
    (site / "apps/a/code.py").rename(site / "apps/a/elsewhere.py")
    messages.update("zh_Hans", site)
    assert messages.catalogue_path("zh_Hans", site).read_text() == before
    assert any("(apps/a/elsewhere.py)" in found for found in messages.problems("zh_Hans", site))


def test_compiled_catalogues_are_what_django_reads(site: Path) -> None:
    messages.update("zh_Hans", site)
    translate(site, ('msgstr "Title"', 'msgstr "标题"'))
    messages.compile_messages(site / "locale")
    assert "标题".encode() in messages.catalogue_path("zh_Hans", site).with_suffix(".mo").read_bytes()


def test_long_files_long_functions_and_receivers_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("@receiver(saved)\ndef f():\n" + "    x = 1\n" * 300)
    found = list(shape.problems(path))
    assert ["302 lines" in found[0], "f has 301 lines" in found[1], "signal receiver" in found[2]] == [True] * 3
    path.write_text("def f():\n" + "    x = 1\n" * 39)
    assert list(shape.problems(path)) == []


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    for name in ("pyproject.toml", *locks.LOCKS, *locks.TOOLS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_locks_of_the_checkout_are_sound(locked: Path) -> None:
    assert list(locks.problems(locked)) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("requirements.txt", "amqp==", "--index-url https://example.org/simple\namqp==", "has an address"),
        ("requirements.txt", "redis==", "redis==9", "differs from dev.txt"),
        ("deploy/locks/quickstart.txt", "redis==", "red-is==", "lacks redis"),
        ("deploy/locks/installer.txt", "--hash=sha256:", "--hash=md5:", "has no hash"),
    ],
)
def test_an_unsound_lock_is_seen(locked: Path, name: str, old: str, new: str, problem: str) -> None:
    text = (locked / name).read_text()
    assert old in text
    (locked / name).write_text(text.replace(old, new))
    assert any(problem in found for found in locks.problems(locked))


def test_checks_have_names_of_their_own() -> None:
    names = [check.name for check in (*catalogue.CHECKS, *catalogue.WRITERS)]
    assert len(set(names)) == len(names)


def test_messages_under_another_name_are_told_of(site: Path) -> None:
    messages.update("zh_Hans", site)
    translate(site)
    (site / "apps" / "a" / "more.py").write_text("from django.utils.translation import gettext as text\n")
    assert list(messages.problems("zh_Hans", site)) == ["its messages are not seen: gettext as text (apps/a/more.py)"]
