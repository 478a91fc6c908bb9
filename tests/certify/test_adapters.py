"""Each adapter on texts that such a server answers, and the bodies that it is asked with."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lockstep import spec
from lockstep.certify import numbers
from lockstep.certify import plan as plans
from lockstep.certify.adapters.adapter import Description, ServerError
from lockstep.certify.adapters.catalogue import ADAPTERS, is_verified
from lockstep.certify.ask import Answer, Ask, digest, hexed
from lockstep.certify.client import Client, StatusError
from lockstep.certify.config import Config
from lockstep.certify.observation import Top
from lockstep.certify.probe import Found
from lockstep.cli.certify_watch import Progress

TOKENS = Ask(prompt=(5, 6, 7), max_new=2, top=1)
DRAWN = Ask((5,), 2, temperature="1", top_p="0.95", top_k=40, seed=9, top=None)


def read(name: str, ask: Ask, *texts: str) -> tuple[Answer, list[bool]]:
    reading = ADAPTERS[name]("m").reading(ask)
    brought = [reading.take(numbers.parse(text)) for text in texts]
    return reading.answer(), brought


def test_every_adapter_of_the_data_is_there() -> None:
    assert list(ADAPTERS) == [one["name"] for one in spec.load("certification.json")["adapters"]]
    known = set(spec.load("certification.json")["capabilities"])
    for adapter in ADAPTERS.values():
        assert set(adapter.declared) <= known


VLLM_STREAM = (
    '{"model":"m","choices":[{"index":0,"text":"a","logprobs":{"tokens":["token_id:130"],'
    '"token_logprobs":[-1.50],"top_logprobs":[{"token_id:130":-1.50,"token_id:44":-1.7402505}]},'
    '"finish_reason":null,"token_ids":[130]}]}',
    '{"model":"m","choices":[{"index":0,"text":"","logprobs":{"tokens":["token_id:249"],'
    '"token_logprobs":[-1e-05],"top_logprobs":[{"token_id:249":-1e-05}]},'
    '"finish_reason":"length","token_ids":[249]}]}',
    '{"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,'
    '"prompt_tokens_details":{"cached_tokens":0}}}',
)


@pytest.mark.parametrize("name", ["vllm", "lockstep"])
def test_a_streamed_completion_keeps_numbers_as_they_stood(name: str) -> None:
    answer, brought = read(name, TOKENS, *VLLM_STREAM)
    assert brought == [True, True, False]
    output = answer.output
    assert output.tokens == (130, 249)
    assert output.token_texts is None
    assert output.logprobs == ("-1.50", "-1e-05")
    assert output.top is not None
    assert output.top[0] == (Top("id:130", "-1.50"), Top("id:44", "-1.7402505"))
    assert (output.finish, output.text_sha256) == ("length", digest("a"))
    assert (answer.cached, answer.prompt_tokens, answer.model) == (0, 3, "m")


def test_what_is_not_reported_is_none_and_not_zero() -> None:
    answer, _ = read("openai", TOKENS, '{"choices":[{"text":"ab","finish_reason":"stop"}]}')
    output = answer.output
    assert (output.tokens, output.token_texts, output.logprobs, output.top) == (None,) * 4
    assert output.prompt_logprobs is None
    assert (answer.cached, answer.prompt_tokens, answer.model) == (None, None, None)


def test_tokens_named_by_text_are_kept_as_texts_and_null_as_null() -> None:
    text = (
        '{"choices":[{"index":0,"text":"ab","finish_reason":"length","logprobs":{'
        '"tokens":["a","b"],"token_logprobs":[-0.1,null],"top_logprobs":[{"a":-0.1},null]}}]}'
    )
    output = read("openai", TOKENS, text)[0].output
    assert (output.tokens, output.token_texts) == (None, (hexed("a"), hexed("b")))
    assert output.logprobs == ("-0.1", None)
    assert output.top == ((Top(f"utf8:{hexed('a')}", "-0.1"),), ())


def test_fewer_log_probabilities_than_tokens_are_kept_so() -> None:
    text = (
        '{"choices":[{"index":0,"text":"ab","finish_reason":"length","token_ids":[1,2],"logprobs":'
        '{"tokens":["token_id:1"],"token_logprobs":[-0.1],"top_logprobs":null}}]}'
    )
    output = read("vllm", TOKENS, text)[0].output
    assert output.tokens == (1, 2)
    assert output.logprobs == ("-0.1",)


def test_an_echoed_prompt_is_parted_from_the_output() -> None:
    text = (
        '{"choices":[{"index":0,"text":"abc","finish_reason":"length","token_ids":[3],"logprobs":'
        '{"tokens":["token_id:1","token_id:2","token_id:3"],"token_logprobs":[null,-0.2,-0.3],'
        '"top_logprobs":null}}]}'
    )
    output = read("vllm", Ask((1, 2), 1, top=1, echo=True), text)[0].output
    assert output.prompt_logprobs == (None, "-0.2")
    assert (output.tokens, output.logprobs) == ((3,), ("-0.3",))


def test_a_chat_has_its_log_probabilities_in_its_content() -> None:
    text = (
        '{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop","logprobs":{'
        '"content":[{"token":"hi","logprob":-0.25,"top_logprobs":[{"token":"hi","logprob":-0.25}]}]'
        "}}]}"
    )
    output = read("openai", TOKENS, text)[0].output
    assert output.logprobs == ("-0.25",)
    assert output.token_texts == (hexed("hi"),)


SGLANG = (
    '{"text":"a","output_ids":[4],"meta_info":{"finish_reason":null,"prompt_tokens":3,'
    '"completion_tokens":1,"cached_tokens":2,"output_token_logprobs":[[-0.5,4,null]],'
    '"output_top_logprobs":[[[-0.5,4,null],[-1.5,9,null]]]}}'
)
SGLANG_END = (
    '{"text":"ab","output_ids":[4,5],"meta_info":{"finish_reason":{"type":"length","length":2},'
    '"prompt_tokens":3,"completion_tokens":2,"cached_tokens":2,"output_token_logprobs":'
    '[[-0.5,4,null],[-0.75,5,null]],"output_top_logprobs":[[[-0.5,4,null]],[[-0.75,5,null]]]}}'
)


def test_sglang_tells_all_that_came_so_far() -> None:
    answer, brought = read("sglang", TOKENS, SGLANG, SGLANG_END)
    assert brought == [True, True]
    assert answer.output.tokens == (4, 5)
    assert answer.output.logprobs == ("-0.5", "-0.75")
    assert answer.output.finish == "length"
    assert (answer.cached, answer.prompt_tokens) == (2, 3)


def test_sglang_that_streams_what_is_new_alone() -> None:
    end = (
        '{"text":"b","output_ids":[5],"meta_info":{"finish_reason":{"type":"length"},'
        '"completion_tokens":2,"output_token_logprobs":[[-0.75,5,null]]}}'
    )
    output = read("sglang", TOKENS, SGLANG, end)[0].output
    assert output.tokens == (4, 5)
    assert output.logprobs == ("-0.5", "-0.75")
    assert output.text_sha256 == digest("ab")


def test_sglang_that_aborts_is_an_error() -> None:
    text = '{"text":"","meta_info":{"finish_reason":{"type":"abort","message":"no room"}}}'
    with pytest.raises(ServerError, match="no room"):
        read("sglang", TOKENS, text)


def test_llama_cpp_ends_by_figures() -> None:
    answer, brought = read(
        "llamacpp",
        TOKENS,
        '{"content":"a","tokens":[4],"stop":false,"completion_probabilities":[{"id":4,"token":"a",'
        '"bytes":[97],"logprob":-0.5,"top_logprobs":[{"id":4,"token":"a","logprob":-0.5}]}]}',
        '{"content":"","tokens":[],"stop":true,"stop_type":"limit","tokens_evaluated":3,'
        '"timings":{"cache_n":2}}',
    )
    assert brought == [True, False]
    assert answer.output.tokens == (4,)
    assert answer.output.top == ((Top("id:4", "-0.5"),),)
    assert (answer.output.finish, answer.cached, answer.prompt_tokens) == ("length", 2, 3)


def test_tgi_has_ids_though_it_is_asked_by_text() -> None:
    answer, brought = read(
        "tgi",
        TOKENS,
        '{"index":1,"token":{"id":4,"text":"a","logprob":-0.5,"special":false},'
        '"top_tokens":[{"id":4,"text":"a","logprob":-0.5}],"generated_text":null,"details":null}',
        '{"index":2,"token":{"id":5,"text":"b","logprob":-0.25,"special":false},"generated_text":'
        '"ab","details":{"finish_reason":"length","generated_tokens":2,"input_length":3}}',
    )
    assert brought == [True, True]
    assert answer.output.tokens == (4, 5)
    assert answer.output.logprobs == ("-0.5", "-0.25")
    assert (answer.output.finish, answer.cached, answer.prompt_tokens) == ("length", None, 3)


CUT = {
    "openai": '{"choices":[{"index":0,"text":"a","finish_reason":null}]}',
    "lockstep": '{"choices":[{"index":0,"text":"a","token_ids":[1],"finish_reason":null}]}',
    "vllm": '{"choices":[{"index":0,"text":"a","token_ids":[1],"finish_reason":null}]}',
    "transformers": '{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}',
    "sglang": SGLANG,
    "llamacpp": '{"content":"a","tokens":[4],"stop":false}',
    "tgi": '{"token":{"id":4,"text":"a","logprob":-0.5},"generated_text":null}',
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_answer_that_breaks_off_is_no_answer(name: str) -> None:
    with pytest.raises(ValueError, match="broke off"):
        read(name, TOKENS, CUT[name])


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_error_within_an_answer_is_told(name: str) -> None:
    with pytest.raises(ServerError, match="full"):
        read(name, TOKENS, '{"error":{"message":"full"}}')


@pytest.mark.parametrize(
    "text",
    [
        '{"choices":[{"index":1,"text":"a","finish_reason":"stop"}]}',
        '{"choices":[{"index":0,"text":"a"},{"index":1,"text":"b"}]}',
        '{"choices":["a"]}',
        "[]",
    ],
)
def test_what_is_no_single_choice_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read("openai", TOKENS, text)


def test_an_answer_of_two_models_is_refused() -> None:
    with pytest.raises(ServerError, match="two models"):
        read("vllm", TOKENS, VLLM_STREAM[0], VLLM_STREAM[1].replace('"m"', '"other"'))


def body(name: str, ask: Ask) -> dict[str, Any]:
    path, sent = ADAPTERS[name]("m").call(ask)
    assert path.startswith("/")
    return sent


def test_every_sampling_field_is_sent() -> None:
    sent = body("vllm", DRAWN)
    assert (sent["temperature"], sent["top_p"], sent["top_k"], sent["seed"]) == (1, 0.95, 40, 9)
    assert (sent["min_p"], sent["repetition_penalty"], sent["n"]) == (0, 1, 1)
    assert "logprobs" not in sent
    sampling = body("sglang", DRAWN)["sampling_params"]
    assert (sampling["temperature"], sampling["top_k"], sampling["sampling_seed"]) == (1, 40, 9)
    sent = body("llamacpp", DRAWN)
    assert (sent["top_p"], sent["top_k"], sent["seed"], sent["min_p"]) == (0.95, 40, 9, 0)
    assert body("tgi", DRAWN)["parameters"]["do_sample"] is True


def test_a_field_that_is_left_out_on_purpose_is_not_sent() -> None:
    assert "seed" not in body("vllm", TOKENS)
    assert "ignore_eos" not in body("vllm", Ask((1,), 1, ignore_eos=None))
    assert body("vllm", Ask((1,), 1, ignore_eos=0))["ignore_eos"] is False
    assert "top_k" not in body("openai", Ask((1,), 1, top_k=None))


def test_prompts_go_as_ids_and_the_cache_is_parted() -> None:
    assert body("vllm", TOKENS)["prompt"] == [5, 6, 7]
    assert body("sglang", TOKENS)["input_ids"] == [5, 6, 7]
    assert body("lockstep", Ask((1,), 1, salt="s"))["cache_salt"] == "s"
    assert body("llamacpp", Ask((1,), 1, reuse=False))["cache_prompt"] is False
    assert body("openai", Ask("a text", 1))["prompt"] == "a text"


NOT_YET = {"llamacpp"}
"""Certified since the data said who is verified; to say less misleads nobody."""


def test_an_adapter_is_verified_where_a_certificate_of_a_real_server_is_published() -> None:
    published = {
        name
        for name in ADAPTERS
        if (spec.root().parent / "evidence" / f"certification-{name}.cert.json").is_file()
    }
    assert published >= NOT_YET
    assert {name for name in ADAPTERS if is_verified(name)} == {*published, "lockstep"} - NOT_YET


class Pages:
    """A client of a server that has these pages alone."""

    def __init__(self, pages: dict[str, str]) -> None:
        self._pages = pages

    async def document(self, path: str) -> Any:
        """GET a path that gives JSON."""
        if path not in self._pages:
            raise StatusError(404, "no such page")
        return numbers.parse(self._pages[path])


# Members as SGLang's http_server.py gives them (its server arguments, the scheduler's figures, the
# version); earlier releases have the same at /get_server_info and /get_model_info.
SGLANG_INFO = (
    '{"model_path":"org/m","served_model_name":"m","dtype":"bfloat16","context_length":null,'
    '"page_size":1,"chunked_prefill_size":8192,"attention_backend":"triton","random_seed":42,'
    '"disable_radix_cache":false,"disable_cuda_graph":true,"disable_overlap_schedule":false,'
    '"enable_deterministic_inference":true,"enable_torch_compile":false,"max_req_input_len":4090,'
    '"internal_states":[{}],"version":"0.5.9"}'
)


@pytest.mark.parametrize(
    ("info", "model"),
    [("/server_info", "/model_info"), ("/get_server_info", "/get_model_info")],
)
def test_sglang_says_what_it_is_at_either_path(info: str, model: str) -> None:
    pages = Pages({info: SGLANG_INFO, model: '{"model_path":"org/m","is_generation":true}'})
    told = asyncio.run(ADAPTERS["sglang"]("m").describe(cast(Client, pages)))
    assert (told.version, told.version_source, told.model) == ("0.5.9", info, "m")
    assert (told.context, told.block_size, told.chunk) == (4090, 1, 8192)
    settings = {one.name: one.value for one in told.settings}
    assert settings["graphs"] == "off" and settings["prefix_cache"] == "on"
    assert settings["enable-deterministic-inference"] == "on"
    assert settings["random-seed"] == "42"


def test_sglang_without_token_texts_and_with_a_prompt_to_score() -> None:
    # The first position of a prompt has no log-probability; entries are number, id, text or null.
    text = (
        '{"text":"b","output_ids":[5],"meta_info":{"id":"r","finish_reason":{"type":"length",'
        '"length":1},"prompt_tokens":2,"weight_version":"default","input_token_logprobs":'
        '[[null,1,null],[-2.25,2,null]],"output_token_logprobs":[[-0.75,5,null]],'
        '"input_top_logprobs":[null,[[-2.25,2,null]]],"output_top_logprobs":[[[-0.75,5,null]]],'
        '"completion_tokens":1,"cached_tokens":0,"e2e_latency":0.03}}'
    )
    answer, _ = read("sglang", Ask((1, 2), 1, top=1, echo=True), text)
    assert answer.output.prompt_logprobs == (None, "-2.25")
    assert (answer.output.tokens, answer.output.logprobs) == ((5,), ("-0.75",))
    assert (answer.cached, answer.prompt_tokens) == (0, 2)


def test_tgi_answered_as_a_whole_has_its_tokens_in_its_details() -> None:
    text = (
        '{"generated_text":" ab","details":{"finish_reason":"eos_token","generated_tokens":2,'
        '"seed":null,"prefill":[],"tokens":[{"id":4,"text":" a","logprob":-0.5,"special":false},'
        '{"id":2,"text":"</s>","logprob":-0.25,"special":true}],"top_tokens":[[{"id":4,"text":" a",'
        '"logprob":-0.5,"special":false}],[{"id":2,"text":"</s>","logprob":-0.25,"special":true}]]}}'
    )
    output = read("tgi", TOKENS, text)[0].output
    assert (output.tokens, output.logprobs, output.finish) == ((4, 2), ("-0.5", "-0.25"), "stop")
    assert output.top == ((Top("id:4", "-0.5"),), (Top("id:2", "-0.25"),))


def test_tgi_that_is_overloaded_says_so_within_its_stream() -> None:
    with pytest.raises(ServerError, match="Model is overloaded"):
        read("tgi", TOKENS, '{"error":"Model is overloaded","error_type":"overloaded"}')


def test_tgi_says_what_it_is() -> None:
    info = (
        '{"model_id":"org/m","model_sha":null,"model_pipeline_tag":"text-generation",'
        '"max_concurrent_requests":128,"max_best_of":2,"max_stop_sequences":4,'
        '"max_input_tokens":1024,"max_total_tokens":2048,"validation_workers":2,'
        '"router":"text-generation-router","version":"3.3.6","sha":null,"docker_label":null}'
    )
    told = asyncio.run(ADAPTERS["tgi"]("m").describe(cast(Client, Pages({"/info": info}))))
    assert (told.version, told.model, told.context) == ("3.3.6", "org/m", 2048)
    assert [(one.name, one.value) for one in told.settings] == [("max-concurrent-requests", "128")]


@pytest.mark.parametrize("name", ["sglang", "tgi"])
def test_what_was_read_in_sources_alone_is_told_as_unverified(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Found((), "text", "text", (), Description(), 0.0, 0.0)
    told = {"form": "text", "design": "star", "cases": [], "offers": [], "observable": "text"}
    plan = plans.parameters(Config(), found, "absent") | told
    Progress().planned(ADAPTERS[name]("m"), plan, (), found)
    assert "unverified adapter: no certificate of a real server" in capsys.readouterr().err
