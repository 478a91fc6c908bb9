"""Configuration: what is refused, at which key; whose servers; which variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.certify.client import Endpoint
from lockstep.certify.config import duration, key_of, read_config
from lockstep.certify.hosts import require_own
from lockstep.errors import LockstepError

WHOLE = """
[certify]
endpoint = "http://127.0.0.1:8000/v1"
i_control_this_endpoint = true
model = "m"
adapter = "vllm"
api_key_env = "K"
headers = { X-Team = "a" }
timeout = 30
budget = "10m"
offers = ["reset"]
lacks = ["echo"]
resets = ["/flush"]
[certify.launch]
command = "vllm serve m --port {port}"
environment = { A = "1" }
[certify.requests]
omit = ["top_k"]
body = { min_p = 0.0 }
cached = "usage.cached"
[certify.metrics]
path = "/prom"
running = ["running"]
[certify.recorded]
runtime_version = "0.32.0"
[certify.plan]
cases = ["wide_33"]
repeats = 5
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "lockstep.toml"
    path.write_text(text)
    return path


def test_a_whole_file(tmp_path: Path) -> None:
    config = read_config(write(tmp_path, WHOLE))
    assert config.controlled and config.adapter == "vllm" and config.timeout == 30
    assert config.budget == 600
    assert config.launch is not None and config.launch.environment == {"A": "1"}
    assert config.overrides.omit == ("top_k",)
    assert config.overrides.running == ("running",)
    assert config.recorded == {"runtime_version": "0.32.0"}
    assert config.plan == {"cases": ("wide_33",), "repeats": 5}


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("[certify]\nmodell = 'm'\n", "lockstep.toml:/certify/modell"),
        ("[certify]\nadapter = 'ollama'\n", "lockstep.toml:/certify/adapter"),
        ("[certify]\ntimeout = true\n", "lockstep.toml:/certify/timeout"),
        ("[certify]\nbudget = 'soon'\n", "budget"),
        ("[certify.plan]\nrepeats = 1\n", "lockstep.toml:/certify/plan/repeats"),
        ("[certify.plan]\ncases = ['wide']\n", "lockstep.toml:/certify/plan/cases"),
        ("[certify.recorded]\nversion = '1'\n", "lockstep.toml:/certify/recorded/version"),
        ("[certify.metrics]\nrunning = 'x'\n", "lockstep.toml:/certify/metrics/running"),
        ("[certify.headers]\nX = 1\n", "lockstep.toml:/certify/headers/X"),
        ("[other]\n", "lockstep.toml:/other"),
    ],
)
def test_what_is_unknown_or_wrong_is_told_by_its_key(
    tmp_path: Path, text: str, pointer: str
) -> None:
    with pytest.raises(LockstepError) as refusal:
        read_config(write(tmp_path, text))
    assert (refusal.value.code, refusal.value.pointer) == ("USAGE", pointer)


@pytest.mark.parametrize("text", ["[certify\n", "\udcff"])
def test_what_is_no_toml_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lockstep.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(LockstepError) as refusal:
        read_config(path)
    assert refusal.value.code == "FILE_UNREADABLE"


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "https://API.OpenAI.com.:443",
        "https://my-name.openai.azure.com",
        "https://bedrock-runtime.eu-west-1.amazonaws.com",
        "https://openrouter.ai/api",
    ],
)
def test_servers_of_providers_are_refused_even_if_claimed(url: str) -> None:
    with pytest.raises(LockstepError) as refusal:
        require_own(url, True)
    assert refusal.value.code == "ENDPOINT_NOT_CONTROLLED"


def test_a_server_must_be_stated_to_be_ones_own() -> None:
    with pytest.raises(LockstepError) as refusal:
        require_own("http://127.0.0.1:1", False)
    assert refusal.value.code == "ENDPOINT_NOT_CONTROLLED"
    assert require_own("http://gpu.example:1/v1/", True) == "http://gpu.example:1"


@pytest.mark.parametrize(
    "url", ["127.0.0.1:1", "ftp://a", "http://", "http://a?k=1", "http://u:p@a", "http://a:x"]
)
def test_what_is_no_plain_url_is_refused(url: str) -> None:
    with pytest.raises(LockstepError) as refusal:
        require_own(url, True)
    assert refusal.value.code == "USAGE"
    assert "u:p" not in str(refusal.value)


def test_times() -> None:
    assert [duration(text, "b") for text in ("90s", "10m", "1h")] == [90, 600, 3600]
    with pytest.raises(LockstepError):
        duration("0m", "b")


def test_only_the_named_variable_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-this-one")
    monkeypatch.setenv("MINE", "the-key-of-mine")
    assert key_of(None) is None
    assert key_of("MINE") == "the-key-of-mine"
    monkeypatch.setenv("MINE", "broken\nkey")
    with pytest.raises(LockstepError) as refusal:
        key_of("MINE")
    assert "broken" not in str(refusal.value)


def test_an_endpoint_does_not_show_its_secrets() -> None:
    endpoint = Endpoint("http://a", "the-key", {"X-Team": "the-header"})
    assert "the-key" not in repr(endpoint) and "the-header" not in repr(endpoint)
    assert endpoint.hide("Bearer the-key, the-header") == "Bearer [hidden], [hidden]"
