"""Calls: what is read of them, what is settled, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.serve.call import NEUTRAL_CHAT, NEUTRAL_COMPLETION, Call, read_call
from lockstep.serve.text import ByteTexts, NoTexts

SEED = 77


def completion(**fields: Any) -> Call:
    given = {"model": "m", "prompt": "ab", **fields}
    return read_call(given, False, ByteTexts(), "m", 64, lambda: SEED)


def chat(**fields: Any) -> Call:
    given = {"model": "m", "messages": [{"role": "user", "content": "ab"}], **fields}
    return read_call(given, True, ByteTexts(), "m", 300, lambda: SEED)


def test_what_a_completion_leaves_open_is_settled() -> None:
    call = completion()
    assert (call.prompts, call.n, call.max_new, call.top) == (((97, 98),), 1, (16,), None)
    assert (call.sampling.temperature, call.sampling.seed) == ("1", SEED)
    assert completion(seed=5).sampling.seed == 5


def test_a_chat_is_a_prompt_by_the_plain_template() -> None:
    call = chat()
    assert bytes(call.prompts[0]) == b"user: ab\nassistant:"
    assert call.max_new == (256,)
    assert chat(max_completion_tokens=3).max_new == (3,)


@pytest.mark.parametrize(
    ("prompt", "read"),
    [
        ("ab", ((97, 98),)),
        ([1, 2], ((1, 2),)),
        (["a", "b"], ((97,), (98,))),
        ([[1], [2, 3]], ((1,), (2, 3))),
        (["a", [3]], ((97,), (3,))),
    ],
)
def test_prompts_are_texts_or_token_ids(prompt: Any, read: Any) -> None:
    assert completion(prompt=prompt).prompts == read


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"model": "x"}, "MODEL_UNKNOWN", "/model"),
        ({"model": None}, "MISSING_FIELD", "/model"),
        ({"prompt": None}, "MISSING_FIELD", "/prompt"),
        ({"prompt": ""}, "EMPTY_PROMPT", "/prompt"),
        ({"prompt": []}, "EMPTY_PROMPT", "/prompt"),
        ({"prompt": [[1], []]}, "EMPTY_PROMPT", "/prompt/1"),
        ({"prompt": 5}, "WRONG_TYPE", "/prompt"),
        ({"prompt": [True]}, "WRONG_TYPE", "/prompt/0"),
        ({"prompt": [-1]}, "TOKEN_OUT_OF_RANGE", "/prompt"),
        ({"max_tokens": 0}, "BAD_VALUE", "/max_tokens"),
        ({"n": 0}, "BAD_VALUE", "/n"),
        ({"n": 200, "prompt": ["a", "b"]}, "BAD_VALUE", "/n"),
        ({"logprobs": 21}, "BAD_VALUE", "/logprobs"),
        ({"logprobs": True}, "WRONG_TYPE", "/logprobs"),
        ({"temperature": 101}, "BAD_VALUE", "/temperature"),
        ({"top_p": 0}, "BAD_VALUE", "/top_p"),
        ({"seed": -1}, "BAD_VALUE", "/seed"),
        ({"stop": [""]}, "BAD_VALUE", "/stop"),
        ({"stop": 3}, "WRONG_TYPE", "/stop"),
        ({"cache_salt": "é"}, "BAD_VALUE", "/cache_salt"),
        ({"stream_options": {"include_usage": True}}, "BAD_VALUE", "/stream_options"),
        ({"stream": True, "stream_options": {"x": 1}}, "UNKNOWN_FIELD", "/stream_options/x"),
        ({"min_tokens": 4}, "FIELD_UNSUPPORTED", "/min_tokens"),
        ({"best_of": 2}, "FIELD_UNSUPPORTED", "/best_of"),
        ({"suffix": "x"}, "FIELD_UNSUPPORTED", "/suffix"),
        ({"logit_bias": {"1": 1}}, "FIELD_UNSUPPORTED", "/logit_bias"),
        ({"messages": []}, "UNKNOWN_FIELD", "/messages"),
    ],
)
def test_a_completion_is_refused_by_name(fields: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(LockstepError) as caught:
        completion(**fields)
    assert (caught.value.code, caught.value.pointer) == (code, param)


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"messages": None}, "MISSING_FIELD", "/messages"),
        ({"messages": []}, "BAD_VALUE", "/messages"),
        ({"messages": "x"}, "WRONG_TYPE", "/messages"),
        ({"messages": ["x"]}, "WRONG_TYPE", "/messages/0"),
        ({"messages": [{"role": "user"}]}, "MISSING_FIELD", "/messages/0/content"),
        ({"messages": [{"role": "x", "content": "a"}]}, "BAD_VALUE", "/messages/0/role"),
        (
            {"messages": [{"role": "user", "content": "a", "name": "b"}]},
            "UNKNOWN_FIELD",
            "/messages/0/name",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "FIELD_UNSUPPORTED",
            "/messages/0/content/0",
        ),
        ({"top_logprobs": 2}, "BAD_VALUE", "/top_logprobs"),
        ({"logprobs": 1}, "WRONG_TYPE", "/logprobs"),
        ({"max_tokens": 1, "max_completion_tokens": 2}, "BAD_VALUE", "/max_completion_tokens"),
        ({"tools": [{}]}, "FIELD_UNSUPPORTED", "/tools"),
        ({"response_format": {"type": "json_object"}}, "FIELD_UNSUPPORTED", "/response_format"),
    ],
)
def test_a_chat_is_refused_by_name(fields: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(LockstepError) as caught:
        chat(**fields)
    assert (caught.value.code, caught.value.pointer) == (code, param)


def test_values_that_ask_for_nothing_pass() -> None:
    completion(**{name: values[0] for name, values in NEUTRAL_COMPLETION.items() if values})
    chat(**{name: values[0] for name, values in NEUTRAL_CHAT.items() if values})
    completion(user="somebody")


def test_parts_of_a_message_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert chat(messages=[{"role": "system", "content": parts}]).shown == (
        "system: ab\nassistant:",
    )


def test_scoring_alone_asks_for_no_token() -> None:
    call = completion(max_tokens=0, echo=True, logprobs=3)
    assert (call.max_new, call.prompt_top, call.top) == ((0,), 3, 3)
    assert completion(prompt_logprobs=1, max_tokens=0).prompt_top == 1


def test_without_a_tokenizer_text_is_refused_and_ids_are_not() -> None:
    absent = NoTexts(LockstepError("LIBRARY_MISSING", "tokenizers"))
    fields: dict[str, Any] = {"model": "m", "prompt": [1]}
    assert read_call(fields, False, absent, "m", 9, lambda: 0).prompts == ((1,),)
    with pytest.raises(LockstepError, match="LIBRARY_MISSING"):
        read_call({**fields, "prompt": "a"}, False, absent, "m", 9, lambda: 0)


@pytest.mark.parametrize(
    ("members", "name", "beacon"),
    [
        ({}, "c", ""),
        ({"inference_id": "chain-7_B"}, "chain-7_B", ""),
        ({"beacon": "0a" * 32, "seed": 1}, "c", "0a" * 32),
    ],
)
def test_what_draws_come_from(members: dict[str, Any], name: str, beacon: str) -> None:
    call = completion(**members)
    assert (call.name, call.sampling.beacon) == (name, beacon)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inference_id", "a.b"),
        ("inference_id", "-a"),
        ("inference_id", "a" * 41),
        ("beacon", "0A" * 32),
        ("beacon", "0a" * 31),
    ],
)
def test_other_origins_are_refused(field: str, value: str) -> None:
    with pytest.raises(LockstepError) as caught:
        completion(**{field: value})
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", f"/{field}")
