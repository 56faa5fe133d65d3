"""Asking the gateway. Anything but a signed answer with a known code raises `OutcomeUnknown`: query again later, never
repeat the request.

Interface and codes: https://opendocs.alipay.com/open/028r8t (alipay.trade.*), signature of answers:
https://opendocs.alipay.com/common/02mse7.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import requests

from apps.billing.payments.alipay import keys
from apps.billing.payments.alipay.amounts import fen_of, yuan_of
from apps.billing.payments.alipay.settings import AlipaySettings

CHINA = ZoneInfo("Asia/Shanghai")
TIMEOUT_S = (5.0, 15.0)  # to connect, to wait for bytes
MOST_BYTES = 1 << 20
OK = "10000"
NOT_THERE = "ACQ.TRADE_NOT_EXIST"
NO_BILL = "isp.bill_not_exist"
# Signed answers that leave the outcome open: service unavailable, payment in progress, internal error.
UNDECIDED = frozenset({"20000", "10003", "ACQ.SYSTEM_ERROR"})
INNER = ("isp.", "aop.")
PRODUCT = "FAST_INSTANT_TRADE_PAY"
BILL_TYPE = "trade"

Post = Callable[[str, Mapping[str, str]], bytes]


class OutcomeUnknown(Exception):
    """The outcome at the gateway is unknown: no answer, a malformed one, or one without a valid signature."""


class Refused(Exception):
    """A signed answer that says no. `code` is the gateway's sub-code, `text` its words for developers."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


@dataclass(frozen=True, slots=True)
class Trade:
    """What the gateway knows of one payment. `status` is one of WAIT_BUYER_PAY, TRADE_CLOSED, _SUCCESS, _FINISHED."""

    out_trade_no: str
    trade_no: str
    status: str
    total_fen: int


def post(url: str, params: Mapping[str, str]) -> bytes:
    """The body of a 200; `OutcomeUnknown` for everything else. Follows no redirect."""
    try:
        with requests.post(url, data=dict(params), timeout=TIMEOUT_S, allow_redirects=False, stream=True) as answer:
            if answer.status_code != 200:
                raise OutcomeUnknown(f"status {answer.status_code}")
            body = answer.raw.read(MOST_BYTES + 1, decode_content=True)
    except (requests.RequestException, OSError) as error:
        raise OutcomeUnknown(type(error).__name__) from error
    if len(body) > MOST_BYTES:
        raise OutcomeUnknown("too long")
    return bytes(body)


class Client:
    """The gateway as one application sees it. `now` is the time in any zone; requests carry China's."""

    def __init__(self, settings: AlipaySettings, now: Callable[[], datetime], send: Post = post) -> None:
        self.settings = settings
        self.now = now
        self.send = send

    def pay_url(
        self, out_trade_no: str, fen: int, subject: str, expires_at: datetime, *, notify_url: str, return_url: str
    ) -> str:
        """The payment page: an address to which the browser goes. Nothing is sent."""
        content = {
            "out_trade_no": out_trade_no,
            "total_amount": yuan_of(fen),
            "subject": subject,
            "product_code": PRODUCT,
            "time_expire": f"{expires_at.astimezone(CHINA):%Y-%m-%d %H:%M:%S}",
        }
        params = self._signed("alipay.trade.page.pay", content, notify_url=notify_url, return_url=return_url)
        return f"{self.settings.gateway}?{urlencode(params)}"

    def query(self, out_trade_no: str) -> Trade | None:
        """The state of a payment; None if its page was never opened."""
        try:
            node = self._ask("alipay.trade.query", {"out_trade_no": out_trade_no})
        except Refused as refusal:
            if refusal.code == NOT_THERE:
                return None
            raise
        return _trade(node, out_trade_no)

    def close(self, out_trade_no: str) -> bool:
        """Close an unpaid payment; False if the gateway does not know it. Raises `Refused` if it was paid meanwhile."""
        try:
            node = self._ask("alipay.trade.close", {"out_trade_no": out_trade_no})
        except Refused as refusal:
            if refusal.code == NOT_THERE:
                return False
            raise
        _require_equal(node, "out_trade_no", out_trade_no)
        return True

    def refund(self, out_trade_no: str, out_request_no: str, fen: int, reason: str) -> None:
        """Refund a part. The same `out_request_no` again is the same refund. Raises `Refused`."""
        content = {
            "out_trade_no": out_trade_no,
            "out_request_no": out_request_no,
            "refund_amount": yuan_of(fen),
            "refund_reason": reason,
        }
        _require_equal(self._ask("alipay.trade.refund", content), "out_trade_no", out_trade_no)

    def refunded(self, out_trade_no: str, out_request_no: str) -> int | None:
        """Fen that this refund has returned; None if the gateway does not know it."""
        content = {"out_trade_no": out_trade_no, "out_request_no": out_request_no}
        try:
            node = self._ask("alipay.trade.fastpay.refund.query", content)
        except Refused as refusal:
            if refusal.code == NOT_THERE:
                return None
            raise
        if node.get("refund_status") != "REFUND_SUCCESS":
            return None
        _require_equal(node, "out_trade_no", out_trade_no)
        _require_equal(node, "out_request_no", out_request_no)
        return _amount(node, "refund_amount")

    def bill_url(self, day: date) -> str | None:
        """Where the day's bill can be fetched for half a minute; None while there is none."""
        content = {"bill_type": BILL_TYPE, "bill_date": f"{day:%Y-%m-%d}"}
        try:
            node = self._ask("alipay.data.dataservice.bill.downloadurl.query", content)
        except Refused as refusal:
            if refusal.code == NO_BILL:
                return None
            raise
        return str(node.get("bill_download_url") or "") or None

    def _signed(self, method: str, content: Mapping[str, str], **addresses: str) -> dict[str, str]:
        sdk: Any = import_module("apps.billing.payments.alipay.sdk")
        signed: dict[str, str] = sdk.signed(
            method,
            content,
            app_id=self.settings.app_id,
            private_key=self.settings.private_key,
            at=self.now().astimezone(CHINA),
            **addresses,
        )
        return signed

    def _ask(self, method: str, content: Mapping[str, str]) -> dict[str, Any]:
        """The answer's node with code 10000. "Success" is that code alone: the SDK also takes 20000 for one."""
        body = self.send(self.settings.gateway, self._signed(method, content))
        node = answer_of(body, method, self.settings.alipay_public_key)
        if node.get("code") == OK:
            return node
        code, text = str(node.get("sub_code") or node.get("code")), str(node.get("sub_msg") or node.get("msg"))
        if str(node.get("code")) in UNDECIDED or code in UNDECIDED or (code.startswith(INNER) and code != NO_BILL):
            raise OutcomeUnknown(f"{code}: {text}")
        raise Refused(code, text)


def answer_of(body: bytes, method: str, public_key: str) -> dict[str, Any]:
    """The node of `method` in an answer whose signature covers exactly these bytes. Raises `OutcomeUnknown`."""
    name = f'"{method.replace(".", "_")}_response"'
    try:
        text = body.decode()
        start = text.index("{", text.index(name) + len(name))
        _node, end = _DECODER.raw_decode(text, start)
        whole = _DECODER.decode(text)
    except ValueError as error:
        raise OutcomeUnknown(_error_text(body)) from error
    raw, node = text[start:end], whole.get(name.strip('"'))
    if not isinstance(node, dict) or node != _node:
        raise OutcomeUnknown("an answer of another shape")
    if not keys.verifies(public_key, raw.encode(), str(whole.get("sign") or "")):
        raise OutcomeUnknown("the signature does not hold")
    return node


def _unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without repeated names: what is signed would be ambiguous."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name} comes twice")
        found[name] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _error_text(body: bytes) -> str:
    """The error node, which the gateway does not always sign: for the log, never to be believed."""
    try:
        error = json.loads(body).get("error_response") or {}
    except (ValueError, AttributeError):
        return "not JSON"
    return f"{error.get('sub_code') or error.get('code') or 'no node'}"[:80]


def _trade(node: Mapping[str, Any], out_trade_no: str) -> Trade:
    _require_equal(node, "out_trade_no", out_trade_no)
    status, trade_no = str(node.get("trade_status") or ""), str(node.get("trade_no") or "")
    return Trade(out_trade_no, trade_no, status, _amount(node, "total_amount"))


def _require_equal(node: Mapping[str, Any], name: str, value: str) -> None:
    if node.get(name) != value:
        raise OutcomeUnknown(f"an answer about another {name}")


def _amount(node: Mapping[str, Any], name: str) -> int:
    try:
        return fen_of(str(node.get(name)))
    except ValueError as error:
        raise OutcomeUnknown(f"no amount in {name}") from error
