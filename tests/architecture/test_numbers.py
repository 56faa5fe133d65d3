"""Numbers that stand in attributes and addresses are what they are, however many rows there are."""

from django.template import Context, Template
from django.utils.translation import override


def test_an_id_beyond_999_has_no_separator() -> None:
    for language in ("en", "zh-hans"):
        with override(language):
            assert Template('value="{{ id }}"').render(Context({"id": 1309})) == 'value="1309"'
