"""Settings are read back from what was sent: an echo of the request must not pass."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest

from lockstep import spec
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.ask import Ask
from lockstep.measure import settings
from lockstep.measure.load import REQUESTED
from lockstep.measure.observation import Body
from tests.measure.foils import foil

MODULE = "lockstep.measure.settings"


def sent(**fields: Any) -> bytes:
    return json.dumps({"prompt": [1, 2], "model": "m", **fields}).encode()


def guard(module: ModuleType) -> None:
    """What must hold of whatever reads settings back."""
    dropped = module.read_back("/v1/completions", sent(temperature=0))
    found = {one.name: one for one in module.resolved({"ignore_eos": "on"}, [dropped])}
    assert found["ignore_eos"] == ("ignore_eos", "on", None, "dropped")
    other = module.read_back("/v1/completions", sent(ignore_eos=False))
    found = {one.name: one for one in module.resolved({"ignore_eos": "on"}, [other])}
    assert found["ignore_eos"] == ("ignore_eos", "on", "off", "altered")


def test_the_guard_holds() -> None:
    guard(settings)


ECHOES = [
    (
        'sent = values.pop() if len(values) == 1 else "varies" if values else None',
        "sent = requested.get(name)",
    ),
    ('return "dropped"', 'return "requested"'),
    ('return "requested" if requested == sent else "altered"', 'return "requested"'),
    (
        'value = entry["routes"].get(body.route) if at is None else fields[at]',
        'value = "on"',
    ),
]


@pytest.mark.parametrize(("old", "new"), ECHOES)
def test_an_echo_of_the_request_goes_red(old: str, new: str) -> None:
    with foil(MODULE, old, new) as mutated, pytest.raises(AssertionError):
        guard(mutated)


def test_bodies_hold_no_prompt_and_keep_numbers_as_they_were_sent() -> None:
    body = settings.read_back(
        "/generate",
        b'{"input_ids": [1, 2], "sampling_params": {"temperature": 0.70, "ignore_eos": true},'
        b' "stop": ["a"], "stream": false, "seed": null, "note": "\xc3\xa9"}',
    )
    fields = dict(body.fields)
    assert body.route == "/generate"
    assert fields["sampling_params.temperature"] == "0.70"
    assert (fields["sampling_params.ignore_eos"], fields["stream"], fields["seed"]) == (
        "on",
        "off",
        "null",
    )
    assert fields["note"].startswith("sha256:")
    assert fields["stop"].startswith("sha256:")
    assert "input_ids" not in fields
    assert list(fields) == sorted(fields)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="no object"):
        settings.read_back("/", b"[]")


def test_causes() -> None:
    body = settings.read_back("/v1/completions", sent(ignore_eos=True, top_p=1.0, top_k=-1))
    found = {one.name: one for one in settings.resolved({"ignore_eos": "on", "top_k": "0"}, [body])}
    assert (found["top_k"].resolved, found["top_k"].cause) == ("0", "requested")
    assert (found["top_p"].resolved, found["top_p"].cause) == ("1", "harness")
    assert (found["seed"].resolved, found["seed"].cause) == (None, "unchosen")
    assert (found["chat_template"].resolved, found["chat_template"].cause) == ("none", "harness")
    others = [
        one.cause
        for one in settings.resolved({"ignore_eos": "off", "min_p": "0"}, [body])
        if one.name in ("ignore_eos", "min_p")
    ]
    causes = {one.cause for one in found.values()} | set(others)
    assert causes == set(spec.load("probe.json")["causes"])


def test_a_chat_route_applies_the_servers_template() -> None:
    body = settings.read_back(
        "/v1/chat/completions",
        json.dumps(
            {"messages": [{"role": "user"}], "chat_template_kwargs": {"enable_thinking": False}}
        ).encode(),
    )
    found = {one.name: one for one in settings.resolved({"chat_template": "none"}, [body])}
    assert (found["chat_template"].resolved, found["chat_template"].cause) == (
        "the server's",
        "altered",
    )
    assert found["thinking"].resolved == "off"


def test_bodies_that_differ_vary() -> None:
    bodies = [Body("/v1/completions", (("ignore_eos", word),)) for word in ("on", "off")]
    found = {one.name: one for one in settings.resolved({"ignore_eos": "on"}, bodies)}
    assert (found["ignore_eos"].resolved, found["ignore_eos"].cause) == ("varies", "altered")


@pytest.mark.parametrize("name", ["lockstep", "vllm", "sglang", "llamacpp"])
def test_adapters_send_what_is_asked_for(name: str) -> None:
    path, body = ADAPTERS[name]("m").call(Ask(prompt=(1, 2), max_new=4))
    read = settings.read_back(path, json.dumps(body).encode())
    found = settings.resolved(REQUESTED, [read])
    assert {one.cause for one in found if one.requested is not None} == {"requested"}


def test_a_server_of_unknown_make_is_not_told_to_ignore_ends() -> None:
    path, body = ADAPTERS["openai"]("m").call(Ask(prompt=(1, 2), max_new=4))
    read = settings.read_back(path, json.dumps(body).encode())
    found = {one.name: one.cause for one in settings.resolved(REQUESTED, [read])}
    assert found["ignore_eos"] == "dropped"
