"""Sanitise SVG by copying only elements and attributes that draw: no script, link, style sheet or entity."""

import re
from xml.etree import ElementTree

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid

SVG = "http://www.w3.org/2000/svg"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ELEMENTS = _names(
    "svg g path rect circle ellipse line polyline polygon text tspan defs symbol title desc "
    "linearGradient radialGradient stop clipPath mask"
)
PAINT = _names(
    "fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit "
    "stroke-dasharray stroke-dashoffset opacity color display visibility clip-path clip-rule mask stop-color "
    "stop-opacity font-family font-size font-weight font-style text-anchor letter-spacing dominant-baseline"
)
ATTRIBUTES = PAINT | _names(
    "id d x y x1 y1 x2 y2 cx cy r rx ry fx fy width height points viewBox transform preserveAspectRatio dx dy offset "
    "gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits version"
)
LOCAL = re.compile(r"#[\w.-]+\Z")
URLS = re.compile(r"url\(\s*(['\"]?)(.*?)\1\s*\)", re.IGNORECASE)
DECLARATION = re.compile(r"<!(?!--|\[CDATA\[)")
DEEPEST = 60


def sanitized_svg(content: bytes) -> bytes:
    """The drawing of `content` as a new UTF-8 document; raises `Invalid` if there is none."""
    refused = Invalid(_("This is not an SVG picture that can be read."))
    try:
        text = content.decode("utf-8-sig")
        if DECLARATION.search(text):  # a document type can declare entities that grow without end
            raise Invalid(_("An SVG must not hold a document type or entities."))
        root = ElementTree.fromstring(_without_declaration(text))  # noqa: S314  no document type: nothing to expand
    except (UnicodeDecodeError, ElementTree.ParseError, ValueError):
        raise refused from None
    copy = _copy(root, 0)
    if copy is None or _name(root) != "svg":
        raise refused
    ElementTree.register_namespace("", SVG)
    return bytes(ElementTree.tostring(copy, encoding="utf-8"))


def _without_declaration(text: str) -> str:
    return re.sub(r"\A\s*<\?xml[^>]*\?>", "", text)


def _name(element: ElementTree.Element) -> str:
    space, _brace, name = element.tag.rpartition("}") if isinstance(element.tag, str) else ("", "", "")
    return name if space in ("", "{" + SVG) else ""


def _copy(element: ElementTree.Element, depth: int) -> ElementTree.Element | None:
    name = _name(element)
    if name not in ELEMENTS or depth > DEEPEST:
        return None
    copy = ElementTree.Element(f"{{{SVG}}}{name}", _attributes(element, name))
    if name in ("text", "tspan", "title", "desc"):
        copy.text, copy.tail = element.text, element.tail
    copy.extend(child for child in (_copy(each, depth + 1) for each in element) if child is not None)
    return copy


def _attributes(element: ElementTree.Element, name: str) -> dict[str, str]:
    kept = {key: value for key, value in element.attrib.items() if key in ATTRIBUTES and _harmless(value)}
    for key, value in _declarations(element.get("style", "")):
        if key in PAINT and _harmless(value):
            kept[key] = value
    target = element.get("href") or element.get(XLINK_HREF) or ""
    # Only to a part of this very drawing, and never to whole shapes, which could multiply without end.
    if LOCAL.match(target) and name in ("linearGradient", "radialGradient"):
        kept["href"] = target
    return kept


def _declarations(style: str) -> list[tuple[str, str]]:
    split = (part.partition(":") for part in style.split(";"))
    return [(key.strip().lower(), value.strip()) for key, _colon, value in split]


def _harmless(value: str) -> bool:
    """Whether a value has no address except of a part of the same drawing, and no CSS escape that could spell one."""
    if "\\" in value or "/*" in value:
        return False
    targets = [found[1] for found in URLS.findall(value)]
    return value.lower().count("url") == len(targets) and all(LOCAL.match(target) for target in targets)
