"""The part of Alipay's SDK that is used: which parameters a request has, and their signature. Imported on first use.

Not used: its transport, which breaks on a port in the address; its check of answers, which takes SHA-1 too; its
logger, which prints buyers; its clock, which is the machine's local time where the gateway expects China's.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from alipay.aop.api.request.AlipayDataDataserviceBillDownloadurlQueryRequest import (
    AlipayDataDataserviceBillDownloadurlQueryRequest,
)
from alipay.aop.api.request.AlipayTradeCloseRequest import AlipayTradeCloseRequest
from alipay.aop.api.request.AlipayTradeFastpayRefundQueryRequest import AlipayTradeFastpayRefundQueryRequest
from alipay.aop.api.request.AlipayTradePagePayRequest import AlipayTradePagePayRequest
from alipay.aop.api.request.AlipayTradeQueryRequest import AlipayTradeQueryRequest
from alipay.aop.api.request.AlipayTradeRefundRequest import AlipayTradeRefundRequest
from alipay.aop.api.util.SignatureUtils import get_sign_content, sign_with_rsa2

REQUESTS: Mapping[str, Any] = {
    "alipay.trade.page.pay": AlipayTradePagePayRequest,
    "alipay.trade.query": AlipayTradeQueryRequest,
    "alipay.trade.close": AlipayTradeCloseRequest,
    "alipay.trade.refund": AlipayTradeRefundRequest,
    "alipay.trade.fastpay.refund.query": AlipayTradeFastpayRefundQueryRequest,
    "alipay.data.dataservice.bill.downloadurl.query": AlipayDataDataserviceBillDownloadurlQueryRequest,
}


def signed(
    method: str,
    content: Mapping[str, str],
    *,
    app_id: str,
    private_key: str,
    at: datetime,
    notify_url: str = "",
    return_url: str = "",
) -> dict[str, str]:
    """All parameters of a request with their RSA2 signature. `at` is in China's time; empty addresses are left out."""
    request = REQUESTS[method]()
    request.biz_content = dict(content)
    for name, value in (("notify_url", notify_url), ("return_url", return_url)):
        if value:
            setattr(request, name, value)
    params: dict[str, str] = {
        **request.get_params(),
        "app_id": app_id,
        "charset": "utf-8",
        "format": "json",
        "sign_type": "RSA2",
        "timestamp": f"{at:%Y-%m-%d %H:%M:%S}",
    }
    return {**params, "sign": sign_with_rsa2(private_key, get_sign_content(params), "utf-8")}
