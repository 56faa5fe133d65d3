"""What people are told about their jobs on files."""

from django.db.models.functions import Now
from django.urls import reverse

from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.storage import copying
from apps.storage.choices import JobKind, JobStatus
from apps.storage.models import Job
from apps.storage.roots import Root
from tests.builders import platform, signed_in
from tests.storage.conftest import People
from tests.storage.kit import text


def test_the_page_says_what_is_before_a_job_that_waits_and_why_one_failed(
    root: Root, people: People, alice: Actor
) -> None:
    with acting(alice):
        first = copying.start(alice, root, ["notes.txt"], root, "sub")
        copying.start(alice, root, ["notes.txt"], root, "sub")
    with acting(platform()):
        Job.objects.filter(pk=first.pk).update(status=JobStatus.RUNNING, done_files=3, done_bytes=2000)
        Job.objects.create(
            organisation_id=root.organisation_id, owner_id=alice.user_id, kind=JobKind.COPY, title="Copying x",
            subject_id=root.id, status=JobStatus.FAILED, error="It got no further.", ended_at=Now(),
        )  # fmt: skip
    page = text(signed_in(people.alice).get(reverse("storage:jobs", args=[root.kind, root.id])))
    for said in (
        "3 files, 2 kB",
        "Waiting for its turn",
        "1 job of your organisation is before it",
        "It got no further.",
    ):
        assert said in page
