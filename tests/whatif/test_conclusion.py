"""The sentence about a finished scenario says the same numbers as the table below it."""

from django.utils.translation import override

from apps.whatif.comparing import Figure, Unit, Verdict
from apps.whatif.conclusion import conclusion


def test_a_wait_that_grows_manifold_is_told_in_full() -> None:
    p90 = Figure("p90", "p90 wait", Unit.SECONDS, 60.0, 883.0, Verdict.WORSE, "1 min", "15 min", "+1,372%")
    with override("en"):
        assert conclusion([p90], []) == "B gains nothing that is measured here, and the p90 wait grows by 1,372%."
