"""Why a search has no answer."""


class SearchFailed(Exception):
    """`code`: `few_trials`, `no_variance`, `too_large`, `not_a_study`, `no_such_study`, `empty_study`, or `error`.

    `detail` is for the log of the platform, and no sentence for people.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


class TookTooLong(SearchFailed):
    """The process was ended at its limit of time or memory."""

    def __init__(self) -> None:
        super().__init__("took_too_long")
