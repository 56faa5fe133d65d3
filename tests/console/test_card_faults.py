"""Why a card takes no new work and which faults it reported: on the pages, in the API, and how a reset is confirmed."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone, translation

from apps.clusters import fault_words, xids
from apps.clusters.card_fault import CardFault
from apps.clusters.cards import Trouble
from apps.clusters.choices import NodeStatus
from apps.clusters.kernel_log import Unread
from apps.clusters.models import Accelerator, Node, Zone
from tests.builders import World
from tests.console.kit import count_entries, last_entry, messages_of, page, post, text_of

BOOT = uuid4()


@pytest.fixture
def card(world: World) -> Accelerator:
    Node.objects.filter(pk=world.node.pk).update(boot_id=BOOT, last_seen_at=timezone.now())
    return Accelerator.objects.create(
        node=world.node, uuid="GPU-1", index=3, vendor="nvidia", model="H100", memory_mib=81_920
    )


def fault(card: Accelerator, code: int, *, boot_id: UUID = BOOT, minutes: int = 0, **columns: object) -> CardFault:
    at = timezone.now() - timedelta(minutes=minutes)
    told = {"remedy": xids.remedy(code, ""), "at": at, "last_at": at, "last_usec": 7}
    made = CardFault.objects.create(accelerator=card, code=code, boot_id=boot_id, **{**told, **columns})
    if made.is_fatal and boot_id == BOOT:
        Accelerator.objects.filter(pk=card.pk).update(healthy=False, trouble=Trouble.FAULT, unhealthy_since=at)
    return made


def of_card(client: Client, card: Accelerator) -> str:
    return text_of(client.get(page("accelerators"), {"card": str(card.pk)}))


@pytest.mark.parametrize("trouble", Trouble)
def test_the_pages_say_why_a_card_takes_no_work_and_what_to_do(ops: Client, card: Accelerator, trouble: str) -> None:
    Accelerator.objects.filter(pk=card.pk).update(healthy=False, trouble=trouble)
    title, text = (str(words) for words in fault_words.TROUBLES[trouble])
    for shown in (text_of(ops.get(page("node", card.node_id))), of_card(ops, card)):
        assert title in shown
        assert text.replace("'", "&#x27;") in shown or text in shown


def test_every_reason_and_remedy_has_words_in_chinese() -> None:
    with translation.override("zh-hans"):
        words = [word for pair in fault_words.TROUBLES.values() for word in pair]
        words += [*fault_words.REMEDIES.values(), *fault_words.UNREAD.values(), *fault_words.XIDS.values()]
        foreign = [str(word) for word in words if str(word).isascii()]
    assert foreign == []
    assert set(fault_words.TROUBLES) == set(Trouble)
    assert set(fault_words.REMEDIES) == set(xids.Remedy)
    assert set(fault_words.UNREAD) == set(Unread)
    assert set(fault_words.XIDS) >= {*xids.REMEDIES, 154}


def test_faults_are_shown_with_what_they_mean_and_ask_for(ops: Client, card: Accelerator) -> None:
    assert "None was reported." in text_of(ops.get(page("node", card.node_id)))
    fault(card, 31, pid=7312, process="train.py", text="Ch 00000008 <b>")
    fault(card, 79)
    fault(card, 4711)
    for shown in (text_of(ops.get(page("node", card.node_id))), of_card(ops, card)):
        assert "XID 31" in shown
        assert "train.py" in shown
        assert "PID 7312" in shown
        assert "<b>" not in shown
        assert "The card fell off the bus" in shown
        assert "Restart the machine" in shown
        assert "Keeps work away" in shown
        assert "only NVIDIA" in shown


@pytest.mark.parametrize("code", Unread)
def test_where_faults_cannot_be_seen_the_node_says_so_and_why(ops: Client, card: Accelerator, code: str) -> None:
    Node.objects.filter(pk=card.node_id).update(faults_unread=code)
    text = text_of(ops.get(page("node", card.node_id)))
    assert "Faults cannot be seen here" in text
    assert "None was reported." not in text
    assert ops.get(f"/api/v1/console/nodes/{card.node_id}/").json()["faults_unread"] == code


def test_nodes_without_such_cards_say_nothing_of_faults(ops: Client, world: World, card: Accelerator) -> None:
    Accelerator.objects.update(vendor="amd")
    assert "Faults of its cards" not in text_of(ops.get(page("node", world.node.pk)))
    Accelerator.objects.update(vendor="nvidia")
    assert "Faults of its cards" in text_of(ops.get(page("node", world.node.pk)))
    Zone.objects.update(simulated=True)
    assert "Faults of its cards" not in text_of(ops.get(page("node", world.node.pk)))


def test_a_reset_is_confirmed_on_the_cards_page(ops: Client, card: Accelerator) -> None:
    fault(card, 48)
    assert "It was reset…" in of_card(ops, card)
    assert "Has card 3 of" in text_of(ops.get(page("accelerator_reset", card.pk)))
    response = post(ops, page("accelerator_reset", card.pk), follow=True)
    assert "takes work again" in messages_of(response)[-1]
    card.refresh_from_db()
    assert (card.healthy, card.trouble, card.unhealthy_since) == (True, "", None)
    assert last_entry("card.reset").before == {"faults": [48]}
    shown = of_card(ops, card)
    assert "reset confirmed by" in shown
    assert "It was reset…" not in shown
    response = post(ops, page("accelerator_reset", card.pk), follow=True)
    assert "asks for a reset" in messages_of(response)[-1]
    assert count_entries("card.reset") == 1


def test_one_that_keeps_work_away_is_shown_however_many_came_after_it(ops: Client, card: Accelerator) -> None:
    fault(card, 79, minutes=600)
    for pid in range(1, 40):
        fault(card, 13, pid=pid, process="loop")
    assert "It was reset…" in of_card(ops, card)
    assert "XID 79" in text_of(ops.get(page("node", card.node_id)))


def test_faults_of_a_former_start_of_the_machine_ask_for_nothing(ops: Client, card: Accelerator) -> None:
    fault(card, 79, boot_id=uuid4())
    shown = of_card(ops, card)
    assert "before the last restart" in shown
    assert "It was reset…" not in shown


def test_the_api_tells_the_same_and_takes_the_same_word(ops: Client, card: Accelerator) -> None:
    fault(card, 48, text="An uncorrectable double bit error")
    address = f"/api/v1/console/accelerators/{card.pk}/"
    told = ops.get(address).json()
    assert (told["healthy"], told["trouble"]) == (False, "fault")
    assert "fault" in told["trouble_text"]
    (found,) = told["faults"]
    assert (found["code"], found["remedy"], found["stands"]) == (48, "reset", True)
    assert "double-bit" in found["meaning"]
    assert ops.get(f"/api/v1/console/nodes/{card.node_id}/faults/").json()["results"] == [found]
    answer = ops.post(f"{address}reset/")
    assert (answer.status_code, answer.json()["healthy"], answer.json()["trouble_text"]) == (200, True, "")
    assert ops.post(f"{address}reset/").status_code == 409
    assert ops.post(f"/api/v1/console/accelerators/{uuid4()}/reset/").status_code == 404
    assert ops.get(f"/api/v1/console/nodes/{uuid4()}/faults/").status_code == 404


def test_who_may_not_manage_nodes_confirms_nothing(finance: Client, card: Accelerator) -> None:
    fault(card, 48)
    assert post(finance, page("accelerator_reset", card.pk)).status_code == 403
    assert finance.post(f"/api/v1/console/accelerators/{card.pk}/reset/").status_code == 403
    assert finance.get(f"/api/v1/console/nodes/{card.node_id}/faults/").status_code == 403
    card.refresh_from_db()
    assert not card.healthy
    assert card.node.status == NodeStatus.READY
