"""The registry's token service: an API token becomes a short one that says what its person may do, and nothing more."""

import base64
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from apps.common.permissions import Permission as P
from apps.common.scoping import acting
from apps.registry.distribution import admission, bearer, names, scopes
from apps.registry.distribution.names import RepositoryName
from apps.registry.models import Image, ImageManifest, ImageRepository, ManifestBlob
from apps.tenants import tokens
from apps.tenants.actors import personal_actor
from apps.tenants.choices import Role
from apps.tenants.models import ApiToken, Membership, Organisation, User
from apps.tenants.tokens import Lifetime, TokenDraft
from tests.builders import make_member, make_organisation, platform, unique

pytestmark = pytest.mark.django_db

DIGEST = "sha256:" + "a" * 64


def api_token(user: User, organisation: Organisation, *permissions: P) -> str:
    actor = personal_actor(user)
    wanted = frozenset(permissions or tokens.grantable(user, organisation.pk))
    with acting(actor):
        return tokens.create(actor, draft=TokenDraft("laptop", organisation.pk, wanted, Lifetime.MONTH))[1]


@dataclass(frozen=True, slots=True)
class Person:
    user: User
    organisation: Organisation
    secret: str

    @property
    def mine(self) -> str:
        return f"{self.ours}/{names.person_part(self.user)}"

    @property
    def ours(self) -> str:
        return names.organisation_part(self.organisation)

    def ask(self, *wanted: str, **options: Any) -> Any:
        pair = f"{options.get('name', self.user.username)}:{options.get('secret', self.secret)}"
        basic = f"Basic {base64.b64encode(pair.encode()).decode()}"
        query = {"service": bearer.SERVICE, "scope": list(wanted)}
        return Client().get("/v2/token", query, headers={"authorization": basic})

    def granted(self, *wanted: str) -> dict[str, set[str]]:
        answer = self.ask(*wanted)
        assert answer.status_code == 200, answer.content
        claims = bearer.read(answer.json()["token"])
        assert claims["sub"] == self.user.username
        return {each["name"]: set(each["actions"]) for each in claims["access"]}


@pytest.fixture(autouse=True)
def home(tmp_path: object, settings: LazySettings) -> None:
    settings.PLSTACK_HOME = str(tmp_path)


def person(organisation: Organisation, name: str, role: Role = Role.MEMBER) -> Person:
    user = make_member(organisation, name, role)
    return Person(user, organisation, api_token(user, organisation))


@pytest.fixture
def lab(db: None) -> Organisation:
    with acting(platform()):
        return make_organisation()


@pytest.fixture
def alice(lab: Organisation) -> Person:
    with acting(platform()):
        return person(lab, "alice")


@pytest.fixture
def bob(lab: Organisation) -> Person:
    with acting(platform()):
        return person(lab, "bob")


@pytest.fixture
def admin(lab: Organisation) -> Person:
    with acting(platform()):
        return person(lab, "erin", Role.ADMIN)


@pytest.fixture
def charlie(db: None) -> Person:
    with acting(platform()):
        return person(make_organisation(), "charlie", Role.ADMIN)


def test_a_person_pushes_to_their_own_repositories(alice: Person) -> None:
    name = f"{alice.mine}/torch"
    assert alice.granted(f"repository:{name}:pull,push") == {name: {"pull", "push"}}
    assert alice.granted(f"repository:{name}:*") == {name: {"pull", "push", "delete"}}


def test_a_login_asks_for_nothing_and_is_given_nothing(alice: Person) -> None:
    assert alice.granted() == {}


def test_the_organisations_repositories_are_for_all_to_pull_and_for_administrators_to_push(
    alice: Person, admin: Person
) -> None:
    name = f"{alice.ours}/base"
    assert alice.granted(f"repository:{name}:pull,push,delete") == {name: {"pull"}}
    assert admin.granted(f"repository:{name}:pull,push,delete") == {name: {"pull", "push", "delete"}}


def test_a_colleagues_repository_opens_once_it_is_shared(alice: Person, bob: Person) -> None:
    name = f"{alice.mine}/torch"
    assert bob.granted(f"repository:{name}:pull,push") == {}
    with acting(platform()):
        ImageRepository.objects.create(organisation=alice.organisation, owner=alice.user, name=name, shared=True)
    assert bob.granted(f"repository:{name}:pull,push") == {name: {"pull"}}


def test_administrators_clear_up_after_colleagues_and_do_not_push_as_them(alice: Person, admin: Person) -> None:
    name = f"{alice.mine}/torch"
    assert admin.granted(f"repository:{name}:pull,push,delete") == {name: {"pull", "delete"}}


def test_another_organisation_is_given_nothing_whether_the_repository_exists_or_not(
    alice: Person, charlie: Person
) -> None:
    with acting(platform()):
        for name in (f"{alice.ours}/base", f"{alice.mine}/torch"):
            ImageRepository.objects.create(organisation=alice.organisation, name=name, shared=True)
    wanted = [f"repository:{name}:pull,push,delete" for name in (
        f"{alice.ours}/base", f"{alice.mine}/torch", f"{alice.ours}/nothing", "nobody/nothing")]  # fmt: skip
    assert charlie.granted(*wanted) == {}
    assert {charlie.ask(each).status_code for each in wanted} == {200}


def test_nobody_is_given_the_catalogue(admin: Person) -> None:
    assert admin.granted("registry:catalog:*") == {}


def test_an_image_that_the_platform_offers_is_pulled_by_those_it_is_offered_to(
    alice: Person, charlie: Person, bob: Person, settings: LazySettings
) -> None:
    settings.REGISTRY_HOST = "hub.lab"
    name = f"{alice.ours}/base"
    image = Image.objects.create(key=unique("p"), name="Base", reference=f"hub.lab/{name}@{DIGEST}")
    assert charlie.granted(f"repository:{name}:pull,push") == {name: {"pull"}}
    Image.objects.filter(pk=image.pk).update(restricted=True)
    assert charlie.granted(f"repository:{name}:pull") == {}


@pytest.mark.parametrize("way", ["no header", "bearer", "nonsense", "wrong secret", "another's name", "revoked"])
def test_without_a_fitting_token_nobody_gets_one(alice: Person, bob: Person, way: str) -> None:
    if way == "revoked":
        with acting(platform()):
            ApiToken.objects.filter(user=alice.user).update(revoked_at="2020-01-01T00:00Z")
    answers = {
        "no header": lambda: Client().get("/v2/token"),
        "bearer": lambda: Client().get("/v2/token", headers={"authorization": f"Bearer {alice.secret}"}),
        "nonsense": lambda: Client().get("/v2/token", headers={"authorization": "Basic §§§"}),
        "wrong secret": lambda: alice.ask(secret="pls_wrong"),
        "another's name": lambda: alice.ask(name=bob.user.username),
        "revoked": lambda: alice.ask(),
    }
    answer = answers[way]()
    assert answer.status_code == 401
    assert answer.json()["errors"][0]["code"] == "UNAUTHORIZED"
    assert "token" not in answer.json()


def test_failures_are_slowed_down_and_a_right_token_is_not(alice: Person) -> None:
    answers = [alice.ask(secret=f"pls_{number}").status_code for number in range(20)]
    assert answers[0] == 401
    assert answers[-1] == 429
    assert alice.ask().status_code == 200


def test_a_token_without_the_permission_is_given_nothing(alice: Person) -> None:
    narrow = replace(alice, secret=api_token(alice.user, alice.organisation, P.TRAINING_VIEW))
    assert narrow.granted(f"repository:{alice.mine}/torch:pull,push") == {}


def test_whoever_left_the_organisation_gets_none(alice: Person) -> None:
    with acting(platform()):
        Membership.objects.filter(user=alice.user).delete()
    assert alice.ask().status_code == 401


def test_a_full_organisation_is_told_when_it_pushes_and_not_by_the_token(alice: Person, settings: LazySettings) -> None:
    """Clients print what a push is answered, and of a token's refusal the status alone."""
    settings.REGISTRY_ORGANISATION_BYTES = 1000
    name = f"{alice.mine}/torch"
    with acting(platform()):
        keep(alice, name, 999)
    push = f"Bearer {bearer.issue('alice', [bearer.Grant(name, frozenset({'push'}))])}"
    pull = f"Bearer {bearer.issue('alice', [bearer.Grant(name, frozenset({'pull'}))])}"
    admission.admit_layer(name, push)
    with acting(platform()):
        keep(alice, f"{alice.mine}/other", 600)
    assert alice.granted(f"repository:{name}:pull,push") == {name: {"pull", "push"}}
    with pytest.raises(admission.Refused, match="1000") as refused:
        admission.admit_layer(name, push)
    assert (refused.value.status, refused.value.code) == (403, "DENIED")
    admission.admit_layer(name, pull)


def keep(whose: Person, name: str, size: int) -> None:
    repository = ImageRepository.objects.create(organisation=whose.organisation, owner=whose.user, name=name)
    manifest = ImageManifest.objects.create(
        organisation=whose.organisation, repository=repository, digest=DIGEST, media_type="m", size=size
    )
    for position, digest in enumerate((f"sha256:{size:064}", f"sha256:{size:064}")):  # counted once
        ManifestBlob.objects.create(
            organisation=whose.organisation, manifest=manifest, position=position, digest=digest, size=size
        )


@pytest.mark.parametrize(
    "name",
    ["..", "a/..", "a/../b", "a//b", "/a/b", "a/b/", "A/b", "a", "a/b c", "a/b%2fc", "a/" + "b" * 300, "a/.b", "é/b",
     "a/b\n", "a/b:tag", "a/b@sha256:0"],
)  # fmt: skip
def test_a_name_that_is_none_is_refused(alice: Person, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a repository"):
        RepositoryName.parse(name)
    answer = alice.ask(f"repository:{name}:pull,push")
    assert answer.status_code == 400 or bearer.read(answer.json()["token"])["access"] == []


def test_too_many_scopes_are_refused(alice: Person) -> None:
    many = [f"repository:{alice.mine}/r{number}:pull" for number in range(scopes.MOST_SCOPES + 1)]
    assert alice.ask(*many).status_code == 400


def test_a_name_that_is_no_part_of_a_repository_has_an_id_instead(lab: Organisation) -> None:
    user = User(pk=7, username="Bob@Lab")
    assert names.person_part(user) == "user-7"
    assert names.person_part(User(pk=8, username="User-7")) == "user-8"
    assert names.person_part(User(pk=9, username="Bob.Lab")) == "bob.lab"


def test_a_token_of_another_key_or_past_its_time_is_none(alice: Person, tmp_path: Any, settings: LazySettings) -> None:
    ended = bearer.issue("alice", [], lifetime_s=-1)
    with pytest.raises(bearer.BadToken):
        bearer.read(ended)
    good = bearer.issue("alice", [])
    bearer.read(good)
    settings.PLSTACK_HOME = str(tmp_path / "other")
    with pytest.raises(bearer.BadToken):
        bearer.read(good)
