"""Alipay's bills in the form in which they come: a zip of two files in GBK, with everything around the list."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from apps.billing.payments.alipay.amounts import yuan_of
from tests.billing.alipay.gateway import SELLER

COLUMNS = (
    "支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,"
    "支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,"
    "退款批次号/请求号,服务费（元）,分润（元）,备注"
)
RULE = "#-----------------------------------------业务明细列表{}----------------------------------------"


@dataclass(frozen=True)
class Row:
    """A payment, or with `request` a refund. `fee` in fen is what Alipay keeps, below zero: gives back."""

    number: str
    fen: int
    request: str = ""
    fee: int = 0
    trade: str = "2026112222001400000000000001"
    subject: str = "钱包充值"
    at: str = "12:00:00"

    def text(self, day: date) -> str:
        yuan = ("-" if self.request else "") + yuan_of(self.fen)
        fee = "0.00" if not self.fee else ("-" if self.fee > 0 else "") + yuan_of(abs(self.fee))
        what = "退款" if self.request else "交易"
        return (
            f"{self.trade}\t,{self.number}\t,{what}\t,{self.subject},{day} {self.at},{day} {self.at},\t,\t,\t,\t,"
            f"*小明(138****01)\t,{yuan},{yuan},0.00,0.00,0.00,0.00,0.00,,0.00\t,0.00,{self.request}\t,{fee},0.00,"
        )


def details(day: date, rows: Sequence[Row], *, account: str = f"{SELLER}0156") -> str:
    paid = [row.fen for row in rows if not row.request]
    back = [row.fen for row in rows if row.request]
    midnight = f"[{day:%Y年%m月%d日} 00:00:00]"
    lines = [
        "#支付宝业务明细查询",
        f"#账号：[{account}]",
        f"#起始日期：{midnight}   终止日期：{midnight}",
        RULE.format(""),
        COLUMNS,
        *(row.text(day) for row in rows),
        RULE.format("结束"),
        f"#交易合计：{len(paid)}笔，商家实收共{_sum(paid)}元，商家优惠共0.00元",
        f"#退款合计：{len(back)}笔，商家实收退款共{'-' if back else ''}{_sum(back)}元，商家优惠退款共0.00元",
        "#导出时间：[2026年11月22日 09:30:00]",
    ]
    return "\r\n".join(lines) + "\r\n"


def packed(text: str, day: date) -> bytes:
    """The details and their summary, under names in GBK as Alipay writes them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("业务明细(汇总)", "#支付宝业务汇总查询\r\n门店编号,门店名称\r\n"), ("业务明细", text)):
            coded = f"{SELLER}0156_{day:%Y%m%d}_{name}.csv".encode("gbk").decode("cp437")
            archive.writestr(coded, content.encode("gbk"))
    return buffer.getvalue()


def bill(day: date, *rows: Row) -> bytes:
    return packed(details(day, rows), day)


def _sum(amounts: Sequence[int]) -> str:
    return yuan_of(sum(amounts)) if amounts else "0.00"
