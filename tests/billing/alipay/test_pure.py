"""Amounts, keys, signatures, notices: nothing but what was signed in the right way is believed."""

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from apps.billing.payments.alipay import keys, notices, sdk
from apps.billing.payments.alipay.amounts import fen_of, yuan_of
from apps.billing.payments.alipay.client import OutcomeUnknown, answer_of
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.common.errors import Invalid
from tests.billing.alipay.gateway import ALIPAY, APP, OURS, STRANGER, Deal, Gateway, form

METHOD = "alipay.trade.query"


@given(st.integers(min_value=1, max_value=10**12))
def test_an_amount_survives_the_way_there_and_back(fen: int) -> None:
    assert fen_of(yuan_of(fen)) == fen


@pytest.mark.parametrize(
    "text", ["", "1.234", "-1.00", "+1", "1e3", "01.00", "1,000.00", "٣.00", ".5", "1.", "NaN", " 1"]
)
def test_what_is_no_plain_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no amount"):
        fen_of(text)


def test_keys_in_every_form_become_the_same_key() -> None:
    pkcs1 = keys.private_key(OURS.pkcs8)
    assert keys.private_key(pkcs1) == pkcs1
    body = "".join(OURS.pkcs8.strip().splitlines()[1:-1])
    assert keys.private_key(body) == pkcs1
    headed = OURS.private.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    assert keys.private_key(headed.replace("\n", "\r\n")) == pkcs1
    assert keys.public_of(pkcs1) == OURS.public
    assert len(keys.fingerprint(OURS.public)) == 39


@pytest.mark.parametrize(("text", "code"), [("", "unreadable"), ("abc", "unreadable"), ("AAAA", "unreadable")])
def test_what_is_no_key_is_named(text: str, code: str) -> None:
    with pytest.raises(keys.KeyProblem) as problem:
        keys.private_key(text)
    assert problem.value.code == code


def test_keys_of_another_kind_or_size_are_named() -> None:
    small = rsa.generate_private_key(65537, 1024)
    other = ec.generate_private_key(ec.SECP256R1())
    for key, code in ((small, "too_small"), (other, "not_rsa")):
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        with pytest.raises(keys.KeyProblem) as problem:
            keys.private_key(text)
        assert problem.value.code == code


def test_only_sha256_of_exactly_these_bytes_verifies() -> None:
    assert keys.verifies(ALIPAY.public, b"x", ALIPAY.sign(b"x"))
    assert not keys.verifies(ALIPAY.public, b"y", ALIPAY.sign(b"x"))
    assert not keys.verifies(ALIPAY.public, b"x", ALIPAY.sign(b"x", hashes.SHA1()))
    assert not keys.verifies(ALIPAY.public, b"x", STRANGER.sign(b"x"))
    assert not keys.verifies(ALIPAY.public, b"x", "not base64!")
    assert not keys.verifies(ALIPAY.public, b"x", "")


def test_requests_are_signed_over_all_of_their_parameters_in_chinas_time() -> None:
    params = sdk.signed(
        METHOD,
        {"out_trade_no": "T1", "subject": "充值 & 更多"},
        app_id=APP,
        private_key=keys.private_key(OURS.pkcs8),
        at=datetime(2026, 11, 21, 18, 0, 0, tzinfo=UTC),
    )
    message = "&".join(f"{name}={value}" for name, value in sorted(params.items()) if name != "sign")
    assert keys.verifies(OURS.public, message.encode(), params["sign"])
    assert (params["timestamp"], params["method"]) == ("2026-11-21 18:00:00", METHOD)


def answer(node: str, sign: str) -> bytes:
    return f'{{"alipay_trade_query_response":{node},"sign":"{sign}"}}'.encode()


def test_an_answer_is_believed_byte_for_byte() -> None:
    node = '{"code":"10000", "note":"a \\u0022quoted\\u0022 } brace", "n": {"deep": [1, 2]}}'
    assert answer_of(answer(node, ALIPAY.sign(node.encode())), METHOD, ALIPAY.public)["code"] == "10000"
    spaced = node.replace(", ", ",")
    with pytest.raises(OutcomeUnknown):
        answer_of(answer(spaced, ALIPAY.sign(node.encode())), METHOD, ALIPAY.public)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"error_response":{"code":"40002","sub_code":"isv.invalid-signature"}}',
        b'{"alipay_trade_query_response":"text","sign":"x"}',
        b'{"alipay_trade_query_response":{"code":"10000"}}',
        b'{"alipay_trade_query_response":{"code":"10000"},"sign":""}',
        b'{"alipay_trade_query_response":{"code":"10000"},"sign":',
        "{“alipay_trade_query_response”:{}}".encode("gbk"),
    ],
)
def test_anything_else_is_not_known(body: bytes) -> None:
    with pytest.raises(OutcomeUnknown):
        answer_of(body, METHOD, ALIPAY.public)


def test_a_node_or_a_name_that_comes_twice_is_not_known() -> None:
    good, bad = '{"code":"10000"}', '{"code":"10000","code":"40004"}'
    for text in (
        answer(good, ALIPAY.sign(good.encode())).replace(b"{", b'{"alipay_trade_query_response":{},', 1),
        answer(bad, ALIPAY.sign(bad.encode())),
    ):
        with pytest.raises(OutcomeUnknown):
            answer_of(text, METHOD, ALIPAY.public)


def gateway() -> Gateway:
    return Gateway("http://127.0.0.1:1", {"PL1": Deal(1234, "2026T1", "TRADE_SUCCESS")})


SETTINGS = gateway().settings()


def test_a_right_notice_is_read_whatever_its_charset() -> None:
    for charset in ("utf-8", "GBK"):
        read = notices.read(form(gateway().notice("PL1", charset=charset, buyer_id="2088")), SETTINGS)
        assert (read.out_trade_no, read.total_fen, read.status) == ("PL1", 1234, "TRADE_SUCCESS")
        assert read.refund_fen is None


def test_a_refunds_notice_says_so() -> None:
    fields = gateway().notice("PL1", refund_fee="2.00", out_biz_no="PL1R1", gmt_refund="2026-11-21 11:00:00.100")
    read = notices.read(form(fields), SETTINGS)
    assert (read.total_fen, read.refund_fen, read.out_request_no) == (1234, 200, "PL1R1")


def test_empty_values_are_part_of_what_is_signed() -> None:
    assert notices.read(form(gateway().notice("PL1", body="", refund_fee="")), SETTINGS).refund_fen is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed"),
        (b"sign", "malformed"),
        (b"=x&a=1", "malformed"),
        (b"a=" + b"x" * 70_000, "malformed"),
        (form(gateway().notice("PL1")) + b"&total_amount=0.01", "repeated"),
        (form(gateway().notice("PL1")) + b"&%73ign=x", "repeated"),
        (form(gateway().notice("PL1"), sign_type="RSA"), "sign_type"),
        (form(gateway().notice("PL1"), digest=hashes.SHA1()), "signature"),
        (form(gateway().notice("PL1"), key=STRANGER), "signature"),
        (form(gateway().notice("PL1")) + b"&extra=", "signature"),
        (form(gateway().notice("PL1")).replace(b"12.34", b"99.34"), "signature"),
        (form({**gateway().notice("PL1", buyer_id="1"), "charset": "utf-16"}), "charset"),
        (form(gateway().notice("PL1", app_id="2021000000000009")), "app"),
        (form(gateway().notice("PL1", seller_id="2088999999999999")), "seller"),
        (form(gateway().notice("PL1", total_amount="12.345")), "amount"),
        (form(gateway().notice("PL1", refund_fee="-1.00")), "amount"),
        (form({n: v for n, v in gateway().notice("PL1").items() if n != "trade_status"}), "incomplete"),
    ],
)
def test_every_other_notice_is_rejected(body: bytes, code: str) -> None:
    with pytest.raises(notices.Rejected) as rejected:
        notices.read(body, SETTINGS)
    assert rejected.value.code == code


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"private_key": "nonsense"}, "private_key"),
        ({"private_key": ""}, "private_key"),
        ({"alipay_public_key": ""}, "alipay_public_key"),
        ({"alipay_public_key": OURS.public}, "alipay_public_key"),
        ({"app_id": "abc"}, "app_id"),
        ({"seller_id": "3088"}, "seller_id"),
        ({"gateway": "ftp://x"}, "gateway"),
        ({"gateway": "http://openapi.alipay.com/gateway.do"}, "gateway"),
        ({"gateway": "http://127.0.0.1.example.net/gateway.do"}, "gateway"),
        ({"gateway": "https://[::1"}, "gateway"),
        ({"gateway": "https:///gateway.do"}, "gateway"),
        ({"least_fen": 200, "most_fen": 100}, "most_fen"),
        ({"expire_minutes": 0}, "expire_minutes"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(changes: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        gateway().settings(**changes).validate()
    assert field in refused.value.fields


def test_good_settings_and_empty_ones_pass() -> None:
    gateway().settings().validate()
    AlipaySettings().validate()
