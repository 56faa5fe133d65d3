"""The gateway's own notices: a form in the body of a POST, accepted only with a valid signature.

https://opendocs.alipay.com/common/02mse7: the signature is over the decoded pairs in order of their names, without
`sign` and `sign_type`. A framework's own parsing would drop repeated names and decode with a charset of its own.
"""

from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from apps.billing.payments.alipay import keys
from apps.billing.payments.alipay.amounts import fen_of
from apps.billing.payments.alipay.settings import AlipaySettings

MOST_BYTES = 64 * 1024
CHARSETS = {"utf-8": "utf-8", "utf8": "utf-8", "gbk": "gbk", "gb2312": "gbk", "gb18030": "gb18030"}
UNSIGNED = (b"sign", b"sign_type")


class Rejected(Exception):
    """Not a valid notice for this application; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class TradeNotice:
    """A verified notice. `refund_fen` is set if it is about a refund; the total remains that of the payment."""

    notify_id: str
    out_trade_no: str
    trade_no: str
    status: str
    total_fen: int
    refund_fen: int | None = None
    out_request_no: str = ""


def read(body: bytes, settings: AlipaySettings) -> TradeNotice:
    """Raises `Rejected`: malformed, repeated, sign_type, charset, signature, app, seller, amount, incomplete."""
    pairs = pairs_of(body)
    if pairs.get(b"sign_type") != b"RSA2":
        raise Rejected("sign_type")
    charset = CHARSETS.get(pairs.get(b"charset", b"utf-8").decode("ascii", "replace").lower())
    if charset is None:
        raise Rejected("charset")
    message = b"&".join(name + b"=" + value for name, value in sorted(pairs.items()) if name not in UNSIGNED)
    if not keys.verifies(settings.alipay_public_key, message, pairs.get(b"sign", b"").decode("ascii", "replace")):
        raise Rejected("signature")
    try:
        fields = {name.decode("ascii"): value.decode(charset) for name, value in pairs.items()}
    except UnicodeDecodeError as error:
        raise Rejected("charset") from error
    return _notice(fields, settings)


def pairs_of(body: bytes) -> dict[bytes, bytes]:
    """The form's pairs, decoded once; empty values stay, because they are signed too."""
    if len(body) > MOST_BYTES:
        raise Rejected("malformed")
    found: dict[bytes, bytes] = {}
    for part in body.split(b"&"):
        name, equals, value = (unquote_to_bytes(piece.replace(b"+", b" ")) for piece in part.partition(b"="))
        if not equals or not name:
            raise Rejected("malformed")
        if name in found:
            raise Rejected("repeated")
        found[name] = value
    return found


def _notice(fields: dict[str, str], settings: AlipaySettings) -> TradeNotice:
    if fields.get("app_id") != settings.app_id:
        raise Rejected("app")
    if fields.get("seller_id") != settings.seller_id:
        raise Rejected("seller")
    try:
        refund = fields.get("refund_fee") or None
        return TradeNotice(
            notify_id=fields["notify_id"],
            out_trade_no=fields["out_trade_no"],
            trade_no=fields["trade_no"],
            status=fields["trade_status"],
            total_fen=fen_of(fields["total_amount"]),
            refund_fen=fen_of(refund) if refund is not None else None,
            out_request_no=fields.get("out_biz_no", ""),
        )
    except KeyError as error:
        raise Rejected("incomplete") from error
    except ValueError as error:
        raise Rejected("amount") from error
