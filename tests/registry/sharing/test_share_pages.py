"""Pages and endpoints of shares: for the owner, for both sorts of people who receive it, and for everybody else."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.registry import selectors as images
from apps.registry.models import Image, ImageTag, RepositoryShare
from apps.registry.picker import FEW, RECEIVED, TITLES, image_choices, image_groups
from apps.tenants.models import User
from tests.builders import platform, signed_in
from tests.registry.sharing import kit
from tests.registry.sharing.kit import Labs

pytestmark = pytest.mark.django_db

PAGES, API = "/images/repositories/", "/api/v1/images/repositories/"


def text(client: Client, path: str, **query: str) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200, path
    return answer.content.decode()


def names(client: Client, path: str, **query: str) -> list[str]:
    return [each["name"] for each in client.get(path, query).json()["results"]]


class TestTheOwner:
    def test_shares_it_in_a_dialog_and_finds_it_on_the_page(self, labs: Labs, tag: ImageTag) -> None:
        alice, page = signed_in(labs.world.alice), f"{PAGES}{tag.repository_id}/"
        assert "not shared with any other" in text(alice, page)
        assert 'name="organisation"' in text(alice, f"{page}shares/new/")
        sent = {"organisation": labs.other.slug, "note": "For you", "until": ""}
        assert alice.post(f"{page}shares/new/", sent).headers["Location"] == page
        shown = text(alice, page)
        for expected in (labs.other.name, "For you", "Stop sharing…"):
            assert expected in shown
        assert "1 other organisation can use it no more" in text(alice, f"{page}delete/")
        share = RepositoryShare.objects.get()
        question = text(alice, f"{page}shares/{share.pk}/end/")
        assert labs.other.name in question
        assert alice.post(f"{page}shares/{share.pk}/end/").status_code == 302
        assert not RepositoryShare.objects.exists()

    def test_a_name_that_is_nobodys_is_said_beside_it_and_nothing_typed_is_lost(
        self, labs: Labs, tag: ImageTag
    ) -> None:
        sent = {"organisation": "nobody-there", "note": "For whom?", "until": ""}
        answer = signed_in(labs.world.alice).post(f"{PAGES}{tag.repository_id}/shares/new/", sent)
        assert answer.status_code == 422
        assert "There is no organisation with this name." in answer.content.decode()
        assert "For whom?" in answer.content.decode()

    def test_where_the_operator_allows_none_the_page_offers_none(self, labs: Labs, tag: ImageTag) -> None:
        kit.allow(allowed=False)
        shown = text(signed_in(labs.world.alice), f"{PAGES}{tag.repository_id}/")
        assert "shares/new/" not in shown
        kit.allow()
        labs.share(tag.repository)
        kit.allow(allowed=False)
        shown = text(signed_in(labs.world.alice), f"{PAGES}{tag.repository_id}/")
        assert "at present" in shown
        assert "Stop sharing…" in shown

    def test_the_api_does_the_same(self, labs: Labs, tag: ImageTag) -> None:
        alice, path = signed_in(labs.world.alice), f"{API}{tag.repository_id}/shares/"
        day = (db_now() + timedelta(days=3)).date().isoformat()
        sent = {"organisation": labs.other.slug, "until": day}
        made = alice.post(path, sent, content_type="application/json")
        assert made.status_code == 201
        (listed,) = alice.get(path).json()["results"]
        assert listed == made.json()
        assert (listed["organisation"]["slug"], listed["until"], listed["state"]) == (labs.other.slug, day, "active")
        assert listed["shared_by"] == labs.world.alice.username
        again = alice.post(path, sent, content_type="application/json")
        assert (again.status_code, list(again.json()["fields"])) == (409, ["organisation"])
        assert alice.delete(f"{path}{listed['id']}/").status_code == 204
        assert alice.delete(f"{path}{listed['id']}/").status_code == 404


class TestTheReceiver:
    def test_finds_it_in_lists_with_the_owners_organisation(self, labs: Labs, tag: ImageTag) -> None:
        rob, home = signed_in(labs.rob), labs.world.organisation.name
        for path in ("/images/", PAGES):
            assert tag.repository.name not in text(rob, path)
        labs.share(tag.repository)
        for path in ("/images/", PAGES):
            assert home in text(rob, path)
            assert home in text(rob, path, whose="received")
            assert home not in text(rob, path, whose="mine")
        assert home not in text(rob, "/images/", whose="shared")
        assert home not in text(rob, PAGES, whose="organisation")
        assert names(rob, API, whose="received") == [tag.repository.name]
        assert rob.get(f"{API}{tag.repository_id}/").json()["organisation"] == labs.world.organisation.slug

    def test_sees_tags_and_versions_but_no_names_of_people_and_no_acts(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository, "Take care")
        rob, page = signed_in(labs.rob), f"{PAGES}{tag.repository_id}/"
        shown = text(rob, page)
        for expected in (kit.DIGEST, "docker pull", "Take care", labs.world.organisation.name):
            assert expected in shown
        for hidden in ("docker push", "shares/new/", "/delete/", labs.world.alice.display_name, "decline/"):
            assert hidden not in shown, hidden
        (found,) = rob.get(f"{API}{tag.repository_id}/tags/").json()["results"]
        assert (found["digest"], found["pushed_by"]) == (kit.DIGEST, None)
        (found,) = rob.get(f"{API}{tag.repository_id}/versions/").json()["results"]
        assert (found["tags"], found["pushed_by"]) == (["1"], None)
        mine = signed_in(labs.world.alice).get(f"{API}{tag.repository_id}/tags/").json()["results"][0]
        assert mine["pushed_by"] == labs.world.alice.username

    def test_the_page_of_the_image_says_whose_it_is(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository)
        image = Image.objects.get(repository=tag.repository)
        shown = text(signed_in(labs.rob), f"/images/{image.pk}/")
        assert labs.world.organisation.name in shown
        assert "as long as it is shared" in shown

    def test_the_picker_has_it_in_a_group_of_its_own(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository)
        rob = labs.of(labs.rob)
        with acting(platform()):
            for number in range(FEW):
                Image.objects.create(key=f"more-{number}", name=f"More {number}")
        with acting(rob):
            choices = image_choices(rob, list(images.images(rob, containers=True)))
            groups = {str(group.title): group.choices for group in image_groups(choices, rob.user_id, "")}
        (choice,) = groups[str(TITLES[RECEIVED])]
        assert choice.received_from == labs.world.organisation.name
        for form in ("/training/new/", "/environments/new/"):
            assert f"shared by {labs.world.organisation.name}" in text(signed_in(labs.rob), form)

    def test_who_manages_images_declines_and_accepts_it(self, labs: Labs, tag: ImageTag) -> None:
        share, rita, rob = labs.share(tag.repository), signed_in(labs.rita), signed_in(labs.rob)
        assert "decline/" in text(rita, f"{PAGES}{tag.repository_id}/")
        assert labs.world.organisation.name in text(rita, f"/images/shares/{share.pk}/decline/")
        assert rita.post(f"/images/shares/{share.pk}/decline/").status_code == 302
        assert rita.get(f"{PAGES}{tag.repository_id}/").status_code == 404
        assert tag.repository.name not in text(rob, "/images/shares/")
        shown = text(rita, "/images/shares/")
        assert f"/images/shares/{share.pk}/accept/" in shown
        assert rob.post(f"/images/shares/{share.pk}/accept/").status_code == 403
        assert rita.post(f"/images/shares/{share.pk}/accept/").status_code == 302
        assert tag.repository.name in text(rob, "/images/shares/")
        assert "decline/" not in text(rob, "/images/shares/")

    def test_the_api_does_the_same(self, labs: Labs, tag: ImageTag) -> None:
        share, rita = labs.share(tag.repository), signed_in(labs.rita)
        (found,) = signed_in(labs.rob).get("/api/v1/images/shares/").json()["results"]
        assert (found["organisation"]["slug"], found["repository"]["name"]) == (
            labs.world.organisation.slug,
            tag.repository.name,
        )
        assert "shared_by" not in found
        path = f"/api/v1/images/shares/{share.pk}/"
        assert rita.post(f"{path}decline/").json()["state"] == "declined"
        assert rita.post(f"{path}accept/").json()["state"] == "active"
        assert signed_in(labs.rob).post(f"{path}decline/").status_code == 403

    def test_an_empty_list_says_what_others_need_to_know(self, labs: Labs) -> None:
        assert labs.other.slug in text(signed_in(labs.rob), "/images/shares/")

    def test_while_the_operator_allows_none_the_list_says_so(self, labs: Labs, tag: ImageTag) -> None:
        labs.share(tag.repository)
        kit.allow(allowed=False)
        shown = text(signed_in(labs.rita), "/images/shares/")
        assert "at present" in shown
        assert tag.repository.name in shown


@pytest.mark.parametrize("who", ["colleague", "tom", "rob"])
def test_for_everybody_else_nothing_of_it_exists(labs: Labs, tag: ImageTag, who: str) -> None:
    """Rob receives it: what is only its owner's does not exist for him either."""
    share, client = labs.share(tag.repository), signed_in(person(labs, who))
    answers: list[Any] = [
        client.get(f"{PAGES}{tag.repository_id}/shares/new/"),
        client.post(f"{PAGES}{tag.repository_id}/shares/new/", {"organisation": labs.third.slug}),
        client.get(f"{PAGES}{tag.repository_id}/shares/{share.pk}/end/"),
        client.post(f"{PAGES}{tag.repository_id}/shares/{share.pk}/end/"),
        client.get(f"{API}{tag.repository_id}/shares/"),
        client.post(f"{API}{tag.repository_id}/shares/", {"organisation": "x"}, content_type="application/json"),
        client.delete(f"{API}{tag.repository_id}/shares/{share.pk}/"),
        client.delete(f"{API}{tag.repository_id}/"),
        client.delete(f"{API}{tag.repository_id}/tags/1/"),
        client.delete(f"{API}{tag.repository_id}/versions/{kit.DIGEST}/"),
        client.post(f"/images/tags/{tag.pk}/delete/"),
        client.post(f"{PAGES}{tag.repository_id}/delete/"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert RepositoryShare.objects.count() == 1


def person(labs: Labs, who: str) -> User:
    found: User = getattr(labs, who)
    return found
