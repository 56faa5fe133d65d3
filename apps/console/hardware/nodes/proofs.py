"""What of a node's cards was seen on hardware, for its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.clusters.models import Accelerator
from apps.clusters.proofs import PROOFS, Proof


@dataclass(frozen=True, slots=True)
class ProofRow:
    """`here`: seen on a card of the same model as one of the node's."""

    proof: Proof
    here: bool


def proof_rows(cards: Sequence[Accelerator]) -> dict[str, Any] | None:
    """The rows for the vendors of these cards, and how many were never seen; None without cards that are known of."""
    models = {card.model for card in cards}
    vendors = dict.fromkeys(card.vendor for card in cards)
    rows = [
        ProofRow(proof, any(each.model in models for each in proof.seen))
        for vendor in vendors
        for proof in PROOFS.get(vendor, ())
    ]
    return {"rows": rows, "unseen": sum(not row.proof.seen for row in rows)} if rows else None
