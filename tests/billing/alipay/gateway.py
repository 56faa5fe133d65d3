"""A gateway on the loopback that signs as Alipay's does, checks what it is sent, and misbehaves where it is told to.

It knows trades and refunds, pays them when a test says that the buyer did, and makes notices in every form that a
notice must not have as well.
"""

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote_plus

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from apps.billing.payments.alipay import keys
from apps.billing.payments.alipay.amounts import fen_of, yuan_of
from apps.billing.payments.alipay.settings import AlipaySettings

APP, SELLER = "2021000000000001", "2088000000000001"


@dataclass(frozen=True)
class KeyPair:
    """Made once per process: RSA keys take long."""

    private: rsa.RSAPrivateKey

    @classmethod
    def make(cls) -> "KeyPair":
        return cls(rsa.generate_private_key(65537, 2048))

    @cached_property
    def pkcs8(self) -> str:
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    @cached_property
    def pkcs1(self) -> str:
        return keys.private_key(self.pkcs8)

    @cached_property
    def public(self) -> str:
        key = self.private.public_key()
        return keys.public_key(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())

    def sign(self, message: bytes, digest: Any = None) -> str:
        return base64.b64encode(self.private.sign(message, PKCS1v15(), digest or hashes.SHA256())).decode()


OURS, ALIPAY, STRANGER = KeyPair.make(), KeyPair.make(), KeyPair.make()


@dataclass
class Deal:
    """A trade as the gateway keeps it; refunds by their request number, in fen."""

    total_fen: int
    trade_no: str
    status: str = "WAIT_BUYER_PAY"
    refunds: dict[str, int] = field(default_factory=dict)


@dataclass
class Gateway:
    """`faults`: what the next answers are, in order, instead of the right one."""

    url: str = ""
    deals: dict[str, Deal] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    bills: dict[str, bytes] = field(default_factory=dict)
    broke: bool = False  # the merchant's balance does not cover refunds

    def settings(self, **changes: Any) -> AlipaySettings:
        wanted = {
            "enabled": True,
            "app_id": APP,
            "seller_id": SELLER,
            "private_key": OURS.pkcs1,
            "alipay_public_key": ALIPAY.public,
            "gateway": f"{self.url}/gateway.do",
            **changes,
        }
        return AlipaySettings(**wanted)

    def open(self, url: str) -> Deal:
        """The buyer's browser comes to the payment page."""
        params = dict(parse_qsl(url.partition("?")[2], strict_parsing=True))
        self._check(params)
        content = json.loads(params["biz_content"])
        number = content["out_trade_no"]
        deal = Deal(fen_of(content["total_amount"]), f"2026{len(self.deals):012d}")
        return self.deals.setdefault(number, deal)

    def pay(self, out_trade_no: str) -> None:
        self.deals[out_trade_no].status = "TRADE_SUCCESS"

    def notice(self, out_trade_no: str, **changes: str) -> dict[str, str]:
        """The fields of a notice about the trade as it stands, before they are signed."""
        deal = self.deals[out_trade_no]
        fields = {
            "notify_time": "2026-11-21 10:00:00",
            "notify_type": "trade_status_sync",
            "notify_id": f"n-{out_trade_no}",
            "charset": "utf-8",
            "version": "1.0",
            "app_id": APP,
            "seller_id": SELLER,
            "out_trade_no": out_trade_no,
            "trade_no": deal.trade_no,
            "trade_status": deal.status,
            "total_amount": yuan_of(deal.total_fen),
            "subject": "钱包充值 + 100%",
            "buyer_id": "2088…",
        }
        return {**fields, **changes}

    def answer(self, params: Mapping[str, str]) -> bytes | None:
        """The signed answer, or what a fault makes of it; None: the connection is dropped after the work is done."""
        method = params["method"]
        self.asked.append(method)
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "unreachable":
            return None
        self._check(params)
        node = getattr(self, "_" + method.removeprefix("alipay.").replace(".", "_"))(json.loads(params["biz_content"]))
        if fault == "lost":
            return None
        return _signed(method, self._spoilt(node, fault), fault)

    def _spoilt(self, node: dict[str, Any], fault: str) -> dict[str, Any]:
        changes = {
            "busy": {"code": "20000", "msg": "Service Currently Unavailable", "sub_code": "isp.unknow-error"},
            "other": {"out_trade_no": "PL-another"},
            "amount": {"total_amount": "0.01"},
        }
        return {**node, **changes.get(fault, {})}

    def _check(self, params: Mapping[str, str]) -> None:
        message = "&".join(f"{name}={value}" for name, value in sorted(params.items()) if name != "sign")
        assert keys.verifies(OURS.public, message.encode(), params["sign"]), "a request that is not signed"
        assert (params["app_id"], params["sign_type"], params["charset"]) == (APP, "RSA2", "utf-8")
        at = datetime.strptime(params["timestamp"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        ahead = (at - datetime.now(UTC)).total_seconds()
        assert abs(ahead - 8 * 3600) < 300, "the time is China's"

    def _trade_query(self, content: dict[str, str]) -> dict[str, Any]:
        deal = self.deals.get(content["out_trade_no"])
        return _no("ACQ.TRADE_NOT_EXIST") if deal is None else _yes(**self._facts(content["out_trade_no"], deal))

    def _trade_close(self, content: dict[str, str]) -> dict[str, Any]:
        deal = self.deals.get(content["out_trade_no"])
        if deal is None:
            return _no("ACQ.TRADE_NOT_EXIST")
        if deal.status != "WAIT_BUYER_PAY":
            return _no("ACQ.TRADE_STATUS_ERROR")
        deal.status = "TRADE_CLOSED"
        return _yes(out_trade_no=content["out_trade_no"], trade_no=deal.trade_no)

    def _trade_refund(self, content: dict[str, str]) -> dict[str, Any]:
        deal = self.deals.get(content["out_trade_no"])
        if deal is None or deal.status not in ("TRADE_SUCCESS",):
            return _no("ACQ.TRADE_STATUS_ERROR")
        if self.broke:
            return _no("ACQ.SELLER_BALANCE_NOT_ENOUGH")
        number, fen = content["out_request_no"], fen_of(content["refund_amount"])
        if number not in deal.refunds:
            if sum(deal.refunds.values()) + fen > deal.total_fen:
                return _no("ACQ.REFUND_AMT_NOT_EQUAL_TOTAL")
            deal.refunds[number] = fen
        return _yes(out_trade_no=content["out_trade_no"], refund_fee=yuan_of(sum(deal.refunds.values())))

    def _trade_fastpay_refund_query(self, content: dict[str, str]) -> dict[str, Any]:
        deal = self.deals.get(content["out_trade_no"])
        if deal is None:
            return _no("ACQ.TRADE_NOT_EXIST")
        fen = deal.refunds.get(content["out_request_no"])
        if fen is None:
            return _yes()
        return _yes(refund_status="REFUND_SUCCESS", refund_amount=yuan_of(fen), **content)

    def _data_dataservice_bill_downloadurl_query(self, content: dict[str, str]) -> dict[str, Any]:
        if content["bill_date"] not in self.bills:
            return _no("isp.bill_not_exist")
        return _yes(bill_download_url=f"{self.url}/bill/{content['bill_date']}")

    def _facts(self, number: str, deal: Deal) -> dict[str, Any]:
        return {
            "out_trade_no": number,
            "trade_no": deal.trade_no,
            "trade_status": deal.status,
            "total_amount": yuan_of(deal.total_fen),
        }


def form(fields: Mapping[str, str], *, key: KeyPair = ALIPAY, digest: Any = None, sign_type: str = "RSA2") -> bytes:
    """The body of a notice, signed over its fields in their charset."""
    charset = fields.get("charset", "utf-8")
    pairs = {name: value.encode(charset) for name, value in fields.items()}
    message = b"&".join(name.encode() + b"=" + value for name, value in sorted(pairs.items()))
    signed = {**pairs, "sign": key.sign(message, digest).encode(), "sign_type": sign_type.encode()}
    return "&".join(f"{name}={quote_plus(value)}" for name, value in signed.items()).encode()


def _signed(method: str, node: dict[str, Any], fault: str) -> bytes:
    name = method.replace(".", "_") + "_response"
    text = json.dumps(node, ensure_ascii=False)
    key, digest = (STRANGER if fault == "forged" else ALIPAY), (hashes.SHA1() if fault == "sha1" else None)
    sign = key.sign(text.encode(), digest)
    if fault == "tampered":
        text = text.replace("TRADE_CLOSED", "TRADE_SUCCESS").replace("WAIT_BUYER_PAY", "TRADE_SUCCESS")
    if fault == "twice":
        return f'{{"{name}":{text},"{name}":{text},"sign":"{sign}"}}'.encode()
    if fault == "html":
        return b"<html>busy</html>"
    return f'{{"{name}":{text},"sign":"{sign}"}}'.encode()


def _yes(**fields: Any) -> dict[str, Any]:
    return {"code": "10000", "msg": "Success", **fields}


def _no(code: str) -> dict[str, Any]:
    return {"code": "40004", "msg": "Business Failed", "sub_code": code, "sub_msg": code}


@contextmanager
def serving() -> Iterator[Gateway]:
    """The gateway on a free port of the loopback."""
    gateway = Gateway()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(gateway.answer(dict(parse_qsl(body, strict_parsing=True))))

        def do_GET(self) -> None:
            self._send(gateway.bills.get(self.path.rpartition("/")[2]))

        def _send(self, body: bytes | None) -> None:
            if body is None:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    gateway.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield gateway
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
