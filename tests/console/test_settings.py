"""The console's settings pages: what is typed is kept, checked and logged; secrets never leave."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from apps.common.scoping import acting
from apps.envs.policy import EnvironmentSettings
from apps.notifications.branding import BrandingSettings
from apps.notifications.settings import MailSecurity, MailSettings, SmsSettings
from apps.tenants import settings as store
from apps.tenants.models import DefinedPlatformRole, PlatformAssignment, PlatformSetting, User
from apps.tenants.registration import RegistrationSettings
from tests.builders import World, make_staff, make_user, platform, signed_in
from tests.console.kit import count_entries, last_entry, messages_of, page, text_of
from tests.notifications.servers import MailBox, Receiver, http_server, smtp_server

pytestmark = pytest.mark.django_db

PAGES = ("settings_registration", "settings_options", "settings_queue", "settings_notifications", "settings_branding")
MAIL = {
    "which": "mail",
    "mail-host": "mail.example.org",
    "mail-port": "465",
    "mail-security": "tls",
    "mail-username": "gpu",
    "mail-password": "open sesame",
    "mail-from_address": "gpu@example.org",
    "mail-from_name": "GPU",
    "mail-site_url": "https://gpu.example.org",
    "mail-language": "zh-hans",
    "mail-hourly_limit": "7",
}
SMS = {
    "which": "sms",
    "sms-on": "on",
    "sms-url": "https://sms.example.org/send",
    "sms-format": "json",
    "sms-body": "to: {phone}\ntext: {text}",
    "sms-headers": "",
    "sms-authorization": "Bearer sesame",
    "sms-signature_header": "",
    "sms-signing_key": "",
    "sms-success": "",
    "sms-hourly_limit": "5",
}


@pytest.fixture
def box() -> Iterator[MailBox]:
    with smtp_server() as server:
        yield server


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with http_server() as server:
        yield server


@pytest.fixture
def onlooker(world: World) -> Client:
    """Staff with a role of its own that may look at settings and no more."""
    with acting(platform()):
        user = make_user("looker")
        names = ["platform.overview", "platform.settings.view"]
        role = DefinedPlatformRole.objects.create(name="Auditor", permissions=names)
        PlatformAssignment.objects.create(user=user, role="", defined=role)
    return signed_in(user)


@pytest.mark.parametrize("name", PAGES)
def test_each_page_opens_and_leads_to_the_others(root: Client, name: str) -> None:
    text = text_of(root.get(page(name)))
    assert all(page(other) in text for other in PAGES)
    assert ">Save<" in text or "Save</button>" in text


@pytest.mark.parametrize("name", PAGES)
def test_those_without_the_right_are_refused(ops: Client, alice: Client, name: str) -> None:
    for client in (ops, alice):
        assert client.get(page(name)).status_code == 403
        assert client.post(page(name), {"which": "mail"}).status_code == 403
    assert not PlatformSetting.objects.exists()


@pytest.mark.parametrize("name", PAGES)
def test_who_may_only_look_sees_the_page_and_changes_nothing(onlooker: Client, name: str) -> None:
    text = text_of(onlooker.get(page(name)))
    assert "You may look at these settings" in text
    assert "Save</button>" not in text
    assert onlooker.post(page(name), MAIL).status_code == 403
    assert not PlatformSetting.objects.exists()


def test_the_mail_server_is_kept_and_the_password_is_not_shown(root: Client) -> None:
    answer = root.post(page("settings_notifications"), MAIL, follow=True)
    assert messages_of(answer) == ["The settings have been saved."]
    kept = store.get(MailSettings)
    assert (kept.host, kept.port, kept.security, kept.password) == (
        "mail.example.org",
        465,
        MailSecurity.TLS,
        "open sesame",
    )
    assert "sesame" not in text_of(answer)
    assert "One is stored" in text_of(answer)
    entry = last_entry("settings.changed")
    assert (entry.before["password"], entry.after["password"]) == ("", store.MASK)
    assert entry.after["host"] == "mail.example.org"


def test_an_empty_password_keeps_the_stored_one_until_it_is_forgotten(root: Client) -> None:
    root.post(page("settings_notifications"), MAIL)
    root.post(page("settings_notifications"), {**MAIL, "mail-password": "", "mail-port": "587"})
    assert store.get(MailSettings).password == "open sesame"
    root.post(page("settings_notifications"), {**MAIL, "mail-password": "", "mail-forget_password": "on"})
    assert store.get(MailSettings).password == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mail-port": "0"}, "greater than or equal to 1"),
        ({"mail-from_address": ""}, "Give the address that mails come from."),
        ({"mail-site_url": "ftp://x"}, "It starts with https://"),
        ({"mail-security": "none"}, "A password must not travel in the open"),
    ],
)
def test_what_cannot_work_is_said_beside_the_field(root: Client, change: dict[str, str], words: str) -> None:
    answer = root.post(page("settings_notifications"), {**MAIL, **change})
    assert answer.status_code == 422
    assert words in text_of(answer)
    assert "mail.example.org" in text_of(answer)  # nothing typed is lost
    assert not PlatformSetting.objects.exists()
    assert count_entries("settings.changed") == 0


def test_leaving_a_field_checks_and_saves_nothing(root: Client) -> None:
    bad = {**MAIL, "mail-from_address": ""}
    answer = root.post(page("settings_notifications"), bad, headers={"X-Validate": "mail-from_address"})
    assert "Give the address that mails come from." in text_of(answer)
    root.post(page("settings_notifications"), MAIL, headers={"X-Validate": "mail-host"})
    assert not PlatformSetting.objects.exists()


def test_a_test_mail_goes_to_oneself_by_what_is_typed(root: Client, box: MailBox) -> None:
    typed = {**MAIL, "mail-host": "127.0.0.1", "mail-port": str(box.port), "mail-security": "none"}
    typed |= {"mail-username": "", "mail-password": "", "try": "1"}
    answer = root.post(page("settings_notifications"), typed)
    assert answer.status_code == 200
    assert "It was taken for staff-" in text_of(answer)
    assert "@example.com" in str(box.mails[0]["To"])
    assert box.mails[0]["Subject"] == "[PLStack] A test"
    assert not PlatformSetting.objects.exists()


def test_a_test_that_fails_says_what_the_server_said(root: Client, box: MailBox) -> None:
    box.answers["RCPT"] = "550 no such user here"
    typed = {**MAIL, "mail-host": "127.0.0.1", "mail-port": str(box.port), "mail-security": "none"}
    typed |= {"mail-username": "", "mail-password": "", "try": "1"}
    text = text_of(root.post(page("settings_notifications"), typed))
    assert "It was refused." in text
    assert "no such user here" in text
    typed["mail-port"] = "9"
    assert "The server could not be used." in text_of(root.post(page("settings_notifications"), typed))


def test_the_sms_gateway_is_kept_and_tried(root: Client, receiver: Receiver) -> None:
    root.post(page("settings_notifications"), SMS)
    assert store.get(SmsSettings).authorization == "Bearer sesame"
    text = text_of(root.post(page("settings_notifications"), {**SMS, "sms-url": receiver.url, "try": "1"}))
    assert "You have no phone number yet" in text
    assert not receiver.posts


def test_registration_is_set_in_units_that_people_use(root: Client) -> None:
    typed = {"open": "on", "domains": "Example.edu, @uni.example", "cpu_milli": "2.5", "memory_mib": "8", "runs": ""}
    answer = root.post(page("settings_registration"), typed, follow=True)
    kept = store.get(RegistrationSettings)
    assert kept.open
    assert not kept.own_organisation
    assert kept.domains == ("example.edu", "uni.example")
    assert (kept.cpu_milli, kept.memory_mib, kept.runs) == (2500, 8192, None)
    assert 'value="2.5"' in text_of(answer)


def test_a_domain_that_is_none_is_said(root: Client) -> None:
    answer = root.post(page("settings_registration"), {"domains": "not a domain"})
    assert answer.status_code == 422
    assert "is not a domain" in text_of(answer)


OPTIONS = {
    "durations_days": "30, 7，1",
    "duration_days": "7",
    "idle_minutes": "45",
    "max_idle_minutes": "120",
    "bin_days": "14",
    "home_mib": "20",
    "automatic_snapshots": "5",
}


def test_options_of_environments_are_kept(root: Client) -> None:
    root.post(page("settings_options"), OPTIONS)
    kept = store.get(EnvironmentSettings)
    assert kept.durations_days == (1, 7, 30)
    assert (kept.idle_minutes, kept.bin_days, kept.home_mib, kept.unlimited) == (45, 14, 20 * 1024, False)


@pytest.mark.parametrize(
    "change", [{"durations_days": "a week"}, {"durations_days": ""}, {"idle_minutes": "500"}, {"bin_days": "0"}]
)
def test_options_that_cannot_be_are_refused(root: Client, change: dict[str, str]) -> None:
    assert root.post(page("settings_options"), {**OPTIONS, **change}).status_code == 422
    assert not PlatformSetting.objects.exists()


@pytest.fixture
def media(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


def png(side: int = 64) -> SimpleUploadedFile:
    out = io.BytesIO()
    Image.new("RGB", (side, side), "teal").save(out, "PNG")
    return SimpleUploadedFile("logo.png", out.getvalue())


def brand(root: Client, **data: Any) -> Any:
    return root.post(page("settings_branding"), data, follow=True)


def test_names_and_logos_show_everywhere(root: Client, media: Path) -> None:
    brand(root, portal_name="Campus GPU", portal_logo=png(), console_name="Campus Ops", favicon=png(32))
    kept = store.get(BrandingSettings)
    console, sign_in = text_of(root.get(page("overview"))), text_of(Client().get("/accounts/login/"))
    assert "Campus Ops" in console
    assert "Campus GPU" in sign_in
    assert f"/brand/{kept.portal_logo}" in sign_in
    assert f'rel="icon" href="/brand/{kept.favicon}"' in sign_in
    picture = Client().get(f"/brand/{kept.portal_logo}")
    assert picture.headers["Content-Type"] == "image/png"
    assert "sandbox" in picture.headers["Content-Security-Policy"]


def test_a_picture_stays_until_it_is_taken_away(root: Client, media: Path) -> None:
    brand(root, portal_logo=png())
    kept = store.get(BrandingSettings).portal_logo
    brand(root, portal_name="Campus")
    assert store.get(BrandingSettings).portal_logo == kept
    brand(root, remove_portal_logo="on")
    assert store.get(BrandingSettings).portal_logo == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"GIF89a not allowed", "This is not a PNG, JPEG or SVG picture."),
        (b"<html><script>alert(1)</script></html>", "This is not an SVG picture"),
        (b'<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>', "document type"),
        (b"\x89PNG\r\n\x1a\n" + b"0" * 100, "This is not a PNG, JPEG or SVG picture."),
        (b"0" * (512 * 1024 + 1), "too large"),
    ],
)
def test_what_is_no_picture_is_refused_beside_its_field(root: Client, media: Path, content: bytes, words: str) -> None:
    answer = brand(root, portal_logo=SimpleUploadedFile("logo.png", content))
    assert answer.status_code == 422
    assert words in text_of(answer)
    assert not PlatformSetting.objects.exists()


def test_pictures_outside_the_folder_cannot_be_named(media: Path) -> None:
    (media / "secret.png").write_bytes(b"secret")
    for name in ("../secret.png", "..%2fsecret.png", "secret.png", "0" * 32 + ".png"):
        assert Client().get(f"/brand/{name}").status_code == 404


def test_the_page_says_to_whom_a_test_goes() -> None:
    with acting(platform()):
        staff = make_staff()
    client = signed_in(staff)
    assert f"Send a test to {staff.email}" in text_of(client.get(page("settings_notifications")))
    User.objects.filter(pk=staff.pk).update(email="")
    assert "your account has none" in text_of(client.get(page("settings_notifications")))
