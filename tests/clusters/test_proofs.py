"""What was seen on hardware: the records, the document and the checks agree."""

from pathlib import Path

from apps.clusters.proofs import PROOFS
from benchmarks.hardware.checks import CHECKS, WITH_TORCH

DOCUMENT = Path(__file__).parents[2] / "docs/hardware.md"


def test_every_check_has_its_proof() -> None:
    # `closed` and `busy` stand with what they belong to; PyTorch in a container with container images.
    told = {proof.key for proof in PROOFS["nvidia"]}
    assert {*CHECKS, *WITH_TORCH} - told == {"closed", "busy", "torch_container"}


def test_the_document_says_of_each_where_it_was_seen() -> None:
    rows = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    cells = {row.split("`")[1]: row for row in rows}
    for proof in (proof for proofs in PROOFS.values() for proof in proofs):
        row = cells[proof.key]
        for sighting in proof.seen:
            assert f"{sighting.model}, driver {sighting.driver}, {sighting.day}" in row
        assert bool(proof.seen) != ("never" in row)
