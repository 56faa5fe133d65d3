"""What a program says to call a service: curl, Python and JavaScript that work when pasted, the key in a variable."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.serving.asking import Answer
from apps.serving.door.addresses import label_of_organisation, origin
from apps.serving.example_bodies import as_text
from apps.serving.models import Service

KEY = "PLSTACK_SERVICE_KEY"


@dataclass(frozen=True, slots=True)
class Snippet:
    id: str
    title: str
    text: str


CURL = """curl {url} \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d {quoted}"""
PYTHON = """import json, os, urllib.request

request = urllib.request.Request(
    "{url}",
    data=json.dumps({python}).encode(),
    headers={{
        "Authorization": "Bearer " + os.environ["{key}"],
        "Content-Type": "application/json",
    }},
)
with urllib.request.urlopen(request) as answer:
    print(json.load(answer))"""
JAVASCRIPT = """const answer = await fetch("{url}", {{
  method: "POST",
  headers: {{
    Authorization: "Bearer " + process.env.{key},
    "Content-Type": "application/json",
  }},
  body: JSON.stringify({body}),
}});
console.log(await answer.json());"""
LANGUAGES = (("curl", "curl", CURL), ("python", "Python", PYTHON), ("javascript", "JavaScript", JAVASCRIPT))


def for_service(service: Service, body: Any, path: str = "/predict") -> Sequence[Snippet]:
    """`body`: JSON values that the service answers."""
    text = as_text(body)
    names = {
        "url": f"{origin(service.host)}{path}", "key": KEY, "body": text, "quoted": shlex.quote(text),
        "python": repr(body),
    }  # fmt: skip
    return tuple(Snippet(id, title, text.format(**names)) for id, title, text in LANGUAGES)


OPENAI_CURL = """curl {url}/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d {quoted}"""
OPENAI_PYTHON = """import os
from openai import OpenAI

client = OpenAI(base_url="{url}", api_key=os.environ["{key}"])
answer = client.chat.completions.create(
    model={model},
    messages=[{{"role": "user", "content": "Hello"}}],
)
print(answer.choices[0].message.content)"""
OPENAI_JAVASCRIPT = """import OpenAI from "openai";

const client = new OpenAI({{ baseURL: "{url}", apiKey: process.env.{key} }});
const answer = await client.chat.completions.create({{
  model: {model},
  messages: [{{ role: "user", content: "Hello" }}],
}});
console.log(answer.choices[0].message.content);"""


def for_address(organisation_id: UUID, model: str) -> Sequence[Snippet]:
    """Of the organisation's own address, asking the model with this name."""
    body = as_text({"model": model, "messages": [{"role": "user", "content": "Hello"}]})
    names = {"url": f"{origin(label_of_organisation(organisation_id))}/v1", "key": KEY, "model": json.dumps(model)}
    texts = (("curl", OPENAI_CURL), ("Python", OPENAI_PYTHON), ("JavaScript", OPENAI_JAVASCRIPT))
    return tuple(Snippet(title.lower(), title, text.format(**names, quoted=shlex.quote(body))) for title, text in texts)


def readable(answer: Answer) -> str:
    """JSON with its lines, anything else as it came."""
    try:
        return json.dumps(json.loads(answer.text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return answer.text
