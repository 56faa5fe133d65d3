"""TensorBoard in the pages and the API: from a run and from their list to one that opens, and who sees it."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from apps.boards import selectors
from apps.boards.kind import BOARD
from apps.boards.models import Board
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.training.models import Run
from apps.workloads.choices import Reason, Status
from tests.boards.kit import again, open_board, put
from tests.builders import World, platform
from tests.training.kit import submit

pytestmark = pytest.mark.django_db
API = "/api/v1/tensorboards/"


def text(answer: Any) -> str:
    content: bytes = answer.content
    return content.decode()


def new(*runs: Run) -> str:
    return "/tensorboard/new/?" + "&".join(f"run={run.pk}" for run in runs)


def newest() -> Board:
    with acting(platform()):
        return Board.objects.latest("created_at")


class TestOpening:
    def test_from_the_page_of_a_run_to_the_address_of_its_own(
        self, world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = submit(world, name="digits")
        assert f'href="{new(run)}"' in text(alice.get(f"/training/{run.pk}/"))
        page = text(alice.get(new(run)))
        assert "digits v1" in page
        assert "¥3.60" in page  # what it costs stands there before it is opened
        assert "$PLSTACK_OUTPUT" in page
        assert "nobody has looked for 20 min, and after 12 h in any case" in page

        answer = alice.post("/tensorboard/new/", {"run": str(run.pk)})
        board = newest()
        assert answer["Location"] == f"/tensorboard/{board.pk}/?go=1"
        assert alice.get(new(run))["Location"] == answer["Location"], "what is open already is gone to"

        waiting = alice.get(answer["Location"])
        assert f"/tensorboard/{board.pk}/now/?log=0&amp;go=1" in text(waiting)
        put(board, Status.RUNNING)
        assert "TensorBoard is starting" in text(alice.get(f"/tensorboard/{board.pk}/now/?log=0&go=1"))
        monkeypatch.setattr(selectors, "is_ready", lambda *_each: True)
        assert alice.get(f"/tensorboard/{board.pk}/now/?go=1")["HX-Redirect"] == f"/open/{board.workload_id}/"
        assert alice.get(answer["Location"])["Location"] == f"/open/{board.workload_id}/"
        assert "ends by itself at" in text(alice.get(f"/tensorboard/{board.pk}/"))

    def test_several_from_their_list(self, world: World, alice: Client) -> None:
        runs = [submit(world, name=name) for name in ("a", "b")]
        assert 'formaction="/tensorboard/choose/"' in text(alice.get("/training/"))
        answer = alice.post("/tensorboard/choose/", {"id": [str(run.pk) for run in runs]})
        asked = parse_qs(urlsplit(answer["Location"]).query)["run"]
        assert asked == [str(run.pk) for run in runs]
        page = text(alice.get(answer["Location"]))
        assert "a v1" in page
        assert "b v1" in page

    @pytest.mark.parametrize(("count", "words"), [(0, "Choose at least one run"), (11, "up to 10 runs")])
    def test_none_and_too_many_from_the_list(self, world: World, alice: Client, count: int, words: str) -> None:
        runs = [submit(world, name=f"run{number}") for number in range(count)]
        answer = alice.post("/tensorboard/choose/", {"id": [str(run.pk) for run in runs]}, follow=True)
        assert answer.redirect_chain[-1][0] == "/training/"
        assert words in text(answer)

    def test_all_that_the_filter_shows_is_not_taken(self, world: World, alice: Client) -> None:
        answer = alice.post("/tensorboard/choose/", {"id": [str(submit(world).pk)], "all": "1"}, follow=True)
        assert "one by one" in text(answer)

    def test_what_cannot_start_says_why_and_leaves_nothing(self, world: World, alice: Client) -> None:
        with acting(platform()):
            quotas.set_limit(platform(), organisation_id=world.organisation.pk, resource=BOARD.quota_line, limit=0)
        run = submit(world)
        answer = alice.post("/tensorboard/new/", {"run": str(run.pk)})
        assert answer.status_code == 422
        assert "TensorBoards" in text(answer)
        with acting(platform()):
            assert not Board.objects.exists()

    @pytest.mark.parametrize("address", ["?run=x", "?run=00000000-0000-0000-0000-000000000000"])
    def test_runs_that_are_not_there(self, alice: Client, address: str) -> None:
        assert alice.get(f"/tensorboard/new/{address}").status_code == 404
        assert alice.get("/tensorboard/new/").status_code == 400

    def test_who_may_not(self, world: World, bob: Client, charlie: Client, frank: Client) -> None:
        run = submit(world)
        assert [each.get(new(run)).status_code for each in (bob, charlie, frank)] == [404, 404, 403]
        assert [each.post("/tensorboard/new/", {"run": str(run.pk)}).status_code for each in (bob, frank)] == [404, 403]
        assert "act-tensorboard" not in text(frank.get(f"/training/{run.pk}/"))


class TestOne:
    def test_the_list_and_the_page_of_what_has_ended(self, world: World, alice: Client) -> None:
        assert "No TensorBoard yet" in text(alice.get("/tensorboard/"))
        run = submit(world, name="digits")
        board = put(open_board(world, run), Status.STOPPED, reason=Reason.IDLE)
        assert "digits v1" in text(alice.get("/tensorboard/?q=digi"))
        assert "digits v1" not in text(alice.get("/tensorboard/?q=faces"))
        page = text(alice.get(f"/tensorboard/{board.pk}/"))
        assert "nobody had looked for 20 min" in page
        assert f'href="{new(run)}"' in page

    def test_its_owner_ends_it(self, world: World, alice: Client) -> None:
        board = put(open_board(world, submit(world)), Status.RUNNING)
        assert "End this TensorBoard?" in text(alice.get(f"/tensorboard/{board.pk}/stop/"))
        alice.post(f"/tensorboard/{board.pk}/stop/")
        ending = again(board).workload
        assert (ending.status, ending.reason) == (Status.STOPPING, Reason.BY_PERSON)
        put(board, Status.STOPPED, reason=Reason.BY_PERSON)
        page = text(alice.get(f"/tensorboard/{board.pk}/"))
        assert "Stopped by a person" in page
        assert "Why stands in the log" not in page

    def test_what_failed_says_so_and_shows_its_log(self, world: World, alice: Client) -> None:
        board = put(open_board(world, submit(world)), Status.FAILED, reason=Reason.OUT_OF_MEMORY)
        page = text(alice.get(f"/tensorboard/{board.pk}/"))
        assert "Why stands in the log" in page
        assert "Open again" in page

    def test_colleagues_see_nothing_and_who_manages_may_end_it_but_not_look(
        self, world: World, bob: Client, dora: Client, charlie: Client
    ) -> None:
        board = put(open_board(world, submit(world)), Status.RUNNING)
        assert [each.get(f"/tensorboard/{board.pk}/").status_code for each in (bob, dora, charlie)] == [404, 200, 404]
        assert "Only its owner can look at it" in text(dora.get(f"/tensorboard/{board.pk}/?go=1"))
        assert [each.get(f"/open/{board.workload_id}/").status_code for each in (bob, dora, charlie)] == [404] * 3
        assert bob.post(f"/tensorboard/{board.pk}/stop/").status_code == 404
        dora.post(f"/tensorboard/{board.pk}/stop/")
        assert again(board).workload.status == Status.STOPPING

    def test_links_that_know_the_workload_lead_to_it(self, world: World, alice: Client, bob: Client) -> None:
        board = open_board(world, submit(world))
        where = f"/tensorboard/of-workload/{board.workload_id}/"
        assert alice.get(where)["Location"] == f"/tensorboard/{board.pk}/"
        assert bob.get(where).status_code == 404


class TestApi:
    def test_opened_found_again_and_ended(self, world: World, alice: Client, bob: Client) -> None:
        run, kind = submit(world, name="digits"), "application/json"
        first = alice.post(API, {"runs": [str(run.pk)]}, kind)
        assert first.status_code == 201, first.content
        made = first.json()
        assert made["runs"] == [{"id": str(run.pk), "label": "digits v1"}]
        assert (made["status"], made["url"]) == ("queued", f"/open/{made['workload']}/")
        second = alice.post(API, {"runs": [str(run.pk)]}, kind)
        assert (second.status_code, second.json()["id"]) == (200, made["id"])
        assert [row["id"] for row in alice.get(API).json()["results"]] == [made["id"]]
        assert bob.get(API).json()["results"] == []
        assert bob.get(f"{API}{made['id']}/").status_code == 404
        assert alice.post(f"{API}{made['id']}/stop/").status_code == 202
        assert alice.get(f"{API}{made['id']}/").json()["status"] == "stopped"
        assert alice.post(f"{API}{made['id']}/stop/").status_code == 409

    @pytest.mark.parametrize("runs", [[], ["x"], ["00000000-0000-0000-0000-000000000000"] * 101])
    def test_nonsense(self, alice: Client, runs: list[str]) -> None:
        assert alice.post(API, {"runs": runs}, "application/json").status_code == 400

    def test_a_run_that_one_does_not_see(self, world: World, bob: Client) -> None:
        assert bob.post(API, {"runs": [str(submit(world).pk)]}, "application/json").status_code == 404
