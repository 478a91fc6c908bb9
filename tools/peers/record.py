"""Record what a real server answers, as a fixture of the tests of its adapter.

Usage: record.py ADAPTER MODEL URL FILE
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx

from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.ask import Ask
from lockstep.certify.requests import text_of

UNITS = (20, 31, 42, 53, 64, 75)
PAGES = ("/version", "/v1/models", "/props", "/metrics", "/health")
KEPT_METRICS = ("running", "waiting", "cache_config_info", "requests_")
"""Lines of metrics that an adapter may read; there are hundreds of others."""
DROPPED = ("generation_settings", "prompt", "default_generation_settings", "chat_template")
"""Members that no adapter reads, but `default_generation_settings.n_ctx`, and that are long."""


def asks(form: str) -> list[Ask]:
    """Give what is asked: streamed with log-probabilities, whole, seeded, and with echo."""
    prompt = UNITS if form == "tokens" else text_of(UNITS)
    top = 2 if form == "tokens" else None
    seeded = {"temperature": "1", "top_p": "0.95", "top_k": 40, "seed": 7}
    return [
        Ask(prompt, 3, top=top),
        Ask(prompt, 3, top=top, stream=False),
        Ask(prompt, 3, top=top, **seeded),
        Ask(prompt, 1, top=top, echo=True),
    ]


def exchange(client: httpx.Client, adapter: Any, ask: Ask) -> dict[str, Any]:
    """Send one request, and give the request and the lines of the answer."""
    path, body = adapter.call(ask)
    with client.stream("POST", path, json=body) as answer:
        answer.read()
    return {
        "ask": asdict(ask),
        "path": path,
        "body": body,
        "status": answer.status_code,
        "lines": [shortened(line) for line in answer.text.splitlines() if line],
    }


def shortened(line: str) -> str:
    """Give a line without long members that no adapter reads, numbers as they were written."""
    start, text = ("data: ", line[6:]) if line.startswith("data: ") else ("", line)
    if not any(f'"{name}"' in text for name in DROPPED):
        return line
    # Numbers are put back as the texts that they were.
    document = json.loads(text, parse_float=lambda told: f"\0{told}\0")
    for name in DROPPED:
        document.pop(name, None)
    return start + json.dumps(document).replace('"\\u0000', "").replace('\\u0000"', "")


def page(client: httpx.Client, path: str) -> str | None:
    """Give a page that the server has; None where it has none."""
    answer = client.get(path)
    if answer.status_code != 200:
        return None
    if path == "/metrics":
        lines = answer.text.splitlines()
        return "\n".join(line for line in lines if any(word in line for word in KEPT_METRICS))
    if path == "/props":
        whole = answer.json()
        kept = {name: value for name, value in whole.items() if name not in DROPPED}
        context = whole.get("default_generation_settings", {}).get("n_ctx")
        return json.dumps({**kept, "default_generation_settings": {"n_ctx": context}})
    return answer.text


def main(name: str, model: str, url: str, target: str) -> None:
    """Record a server."""
    adapter = ADAPTERS[name](model)
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        found = {
            "adapter": name,
            "model": model,
            "pages": {path: page(client, path) for path in PAGES},
            "exchanges": [exchange(client, adapter, ask) for ask in asks(adapter.form)],
        }
    text = json.dumps(found, indent=1, sort_keys=True)
    Path(target).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ADAPTERS:
        sys.exit(f"{__doc__}\nADAPTER is one of {', '.join(ADAPTERS)}.")
    main(*sys.argv[1:])
