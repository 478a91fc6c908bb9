"""Re-derivation of an execution: two implementations agree, and each rule's mutation is found."""

from __future__ import annotations

import hashlib
from copy import deepcopy
from typing import Any

import pytest

from lockstep.engine.opening import Opened
from lockstep.lifecycle import Pool
from lockstep.replay.observe import ReplaySeen, observe_driven
from lockstep.schedule.policies import policy
from lockstep.schedule.workloads import Shape, make_workload, pool_for
from lockstep_verify import lcj, limits
from lockstep_verify.derive.replay_ledger import framed
from lockstep_verify.derive.replay_outputs import LogitParts
from lockstep_verify.errors import Refusal
from tests.replay.conftest import stated
from tests.statements import get, judge, put, refusal

P = "/predicate"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
ZERO = "0" * 64


@pytest.fixture
def statement(whole: dict[str, Any]) -> dict[str, Any]:
    return deepcopy(whole)


def bound(statement: dict[str, Any]) -> dict[str, Any]:
    """Bind the subjects to the documents as they stand."""
    for at, name in ((2, "workload"), (3, "schedule")):
        digest = hashlib.sha256(lcj.encode(statement["predicate"][name])).hexdigest()
        statement["subject"][at]["digest"]["sha256"] = digest
    return statement


def where(statement: dict[str, Any], event: str, skip: int = 0) -> tuple[int, int]:
    """Give step and place of an event in the schedule."""
    found = [
        (step, place)
        for step, actions in enumerate(statement["predicate"]["schedule"]["steps"])
        for place, action in enumerate(actions)
        if action["event"] == event
    ]
    return found[skip]


def test_a_whole_certificate(statement: dict[str, Any]) -> None:
    derivation = judge(statement)
    assert derivation.verdict == "DERIVED"
    assert derivation.counts["replayed"] == 0
    for mechanism in ("evictions", "preemptions", "hit_blocks"):
        assert derivation.counts[mechanism], mechanism


@pytest.mark.parametrize("kind", ["edges", "prefixes"])
@pytest.mark.parametrize("name", ["canonical", "continuous", "adversarial", "swarm"])
@pytest.mark.parametrize("seed", [0, 1])
def test_two_implementations_agree(kind: Any, name: str, seed: int, opened: Opened) -> None:
    requests = make_workload(Shape(kind=kind, requests=5, block_size=8, max_new=6), seed)
    pool = Pool(pool_for(requests, 8, tight=True).blocks + 2, 8)
    assert judge(stated(observe_driven(opened, requests, pool, policy(name, seed))))


EDITS: list[tuple[str, object, str, str]] = [
    (f"{P}/model/dtype", "float16", "BAD_VALUE", f"{P}/model/dtype"),
    (f"{P}/model/vocab_size", 255, "BAD_VALUE", f"{P}/model/vocab_size"),
    (f"{P}/model/stored_dtype", "float16", "BAD_VALUE", f"{P}/model/stored_dtype"),
    (f"{P}/model/max_positions", 4095, "BAD_VALUE", f"{P}/model/max_positions"),
    (f"{P}/model/stop_tokens", [], "BAD_VALUE", f"{P}/model/stop_tokens"),
    (f"{P}/not_run/1", "nothing", "BAD_VALUE", f"{P}/not_run"),
    (f"{P}/model/stop_tokens", [3, 3], "BAD_VALUE", f"{P}/model/stop_tokens"),
    (f"{P}/model/stop_tokens", [256], "BAD_VALUE", f"{P}/model/stop_tokens"),
    (f"{P}/workload/requests/1/id", "r0", "DUPLICATE_REQUEST", f"{P}/workload/requests/1/id"),
    (
        f"{P}/workload/requests/1/prompt/0", 256, "TOKEN_OUT_OF_RANGE",
        f"{P}/workload/requests/1/prompt/0",
    ),
    (f"{P}/schedule/pool/blocks", 1, "REQUEST_NEVER_FITS", f"{P}/schedule/pool"),
    (f"{P}/outputs/1/request", "r9", "BAD_VALUE", f"{P}/outputs/1/request"),
    (f"{P}/outputs/1/tokens", [1, 1], "BAD_VALUE", f"{P}/outputs/1"),
    (f"{P}/outputs/1/tokens/0", 256, "BAD_VALUE", f"{P}/outputs/1"),
    (f"{P}/outputs/1/reason", "eos", "BAD_VALUE", f"{P}/outputs/1"),
    (f"{P}/trajectory/start", ZERO, "TRAJECTORY_NOT_DERIVED", f"{P}/trajectory/start"),
    (f"{P}/trajectory/sha256", ZERO, "TRAJECTORY_NOT_DERIVED", f"{P}/trajectory/sha256"),
    *(
        (
            f"{P}/trajectory/steps/3/{part}", ZERO, "TRAJECTORY_NOT_DERIVED",
            f"{P}/trajectory/steps/3/{part}",
        )
        for part in ("emitted", "logits", "work", "ledger", "prefixes", "chain")
    ),
    (f"{P}/coverage/covered/0/n", 2, H10, f"{P}/coverage/covered/0/n"),
    *(
        (
            f"{P}/coverage/covered/{n}/legal", 7, "COVERAGE_DENOMINATOR_NOT_DERIVED",
            f"{P}/coverage/covered/{n}/legal",
        )
        for n in range(3)
    ),
    *(
        (f"{P}/coverage/covered/{n}/shown", 99, H10, f"{P}/coverage/covered/{n}/shown")
        for n in range(3)
    ),
    (f"{P}/coverage/n_grams/0/count", 99, H10, f"{P}/coverage/n_grams"),
    *(
        (f"{P}/counts/{name}", 9999, H10, f"{P}/counts/{name}")
        for name in (
            "steps", "batches", "requests", "events", "rows", "tokens", "hit_blocks",
            "evictions", "preemptions", "stopped", "split_rows",
        )
    ),
    *(
        (
            f"/subject/{i}/digest/sha256", ZERO, "SUBJECT_MISMATCH",
            f"/subject/{i}/digest/sha256",
        )
        for i in (1, 2, 3)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("pointer", "value", "code", "at"), EDITS)
def test_an_edit(
    pointer: str, value: object, code: str, at: str, statement: dict[str, Any]
) -> None:
    put(statement, pointer, value)
    assert refusal(statement) == (code, at)


def test_a_token_that_was_not_emitted_shows_in_the_digests(statement: dict[str, Any]) -> None:
    token = get(statement, f"{P}/outputs/1/tokens/0")
    put(statement, f"{P}/outputs/1/tokens/0", 1 + token % 255)
    code, at = refusal(statement)
    assert code == "TRAJECTORY_NOT_DERIVED"
    assert at.endswith("/emitted")


def test_a_prompt_that_was_not_given_shows_in_the_digests(statement: dict[str, Any]) -> None:
    token = get(statement, f"{P}/workload/requests/1/prompt/0")
    put(statement, f"{P}/workload/requests/1/prompt/0", 1 + token % 255)
    assert refusal(bound(statement))[0] in ("TRAJECTORY_NOT_DERIVED", "SCHEDULE_NOT_FOLLOWED")


@pytest.mark.parametrize("member", ["trajectory/steps", "events"])
def test_a_step_that_is_left_out(member: str, statement: dict[str, Any]) -> None:
    get(statement, f"{P}/{member}").pop()
    assert refusal(statement) == ("BAD_VALUE", f"{P}/{member}")


def test_an_event_that_is_left_out_added_or_changed(statement: dict[str, Any]) -> None:
    step, place = where(statement, "decode", 1)
    for edit in ("pop", "append", "blocks"):
        other = deepcopy(statement)
        log = get(other, f"{P}/events/{step}")
        at = f"{P}/events/{step}"
        if edit == "pop":
            log.pop()
        elif edit == "append":
            log.append(log[-1])
        else:
            log[place]["published"].append(0)
            at += f"/{place}"
        assert refusal(other) == ("SCHEDULE_NOT_FOLLOWED", at), edit


@pytest.mark.parametrize(
    ("event", "change", "code"),
    [
        ("chunk", {"tokens": None}, "BAD_VALUE"),
        ("decode", {"tokens": 1}, "BAD_VALUE"),
        ("admit", {"blocks": [0]}, "BAD_VALUE"),
        ("chunk", {"blocks": [0, 0]}, "BAD_VALUE"),
        ("chunk", {"blocks": [4096]}, "BAD_VALUE"),
        ("admit", {"request": "stranger"}, "REQUEST_UNKNOWN"),
        ("cache_hit", {"blocks": [0, 1, 2, 3, 4]}, "PREFIX_NOT_HELD"),
        ("admit", {"event": "resume"}, "EVENT_NOT_ALLOWED"),
        ("admit", {"event": "evict"}, "EVENT_NOT_ALLOWED"),
        ("chunk", {"tokens": 10_000}, "EVENT_NOT_ALLOWED"),
        ("finish", {"event": "decode"}, "REQUEST_ENDED"),
        ("preempt_rc", {"event": "finish"}, "REQUEST_NOT_ENDED"),
    ],
)
def test_an_action_that_is_not_legal(
    event: str, change: dict[str, Any], code: str, statement: dict[str, Any]
) -> None:
    places = [where(statement, event, 0)]
    if (event, code) == ("preempt_rc", "REQUEST_NOT_ENDED"):
        # The first one that interrupts a decoding request.
        logs: dict[int, str] = {}
        for step, log in enumerate(statement["predicate"]["events"]):
            for place, entry in enumerate(log):
                if entry["event"] == event and logs.get(entry["request"]) == "decode":
                    places.append((step, place))
                logs[entry["request"]] = entry["event"]
        places = places[1:]
    step, place = places[0]
    action = get(statement, f"{P}/schedule/steps/{step}/{place}")
    action.update({name: value for name, value in change.items() if value is not None})
    for name in [name for name, value in change.items() if value is None]:
        del action[name]
    assert refusal(bound(statement)) == (code, f"{P}/schedule/steps/{step}/{place}")


def test_two_rows_of_a_request_in_one_step(statement: dict[str, Any]) -> None:
    step, place = where(statement, "decode")
    actions = get(statement, f"{P}/schedule/steps/{step}")
    actions.insert(place + 1, dict(actions[place]))
    assert refusal(bound(statement)) == ("STEP_ORDER", f"{P}/schedule/steps/{step}/{place + 1}")


def test_a_request_that_has_not_arrived(statement: dict[str, Any]) -> None:
    late = next(r for r in statement["predicate"]["workload"]["requests"] if r["arrival"] > 0)
    get(statement, f"{P}/schedule/steps/0").insert(0, {"event": "admit", "request": late["id"]})
    assert refusal(bound(statement)) == ("NOT_ARRIVED", f"{P}/schedule/steps/0/0")


def test_a_schedule_that_ends_before_its_requests(statement: dict[str, Any]) -> None:
    predicate = statement["predicate"]
    step = where(statement, "finish", -1)[0]
    assert step == len(predicate["schedule"]["steps"]) - 1
    for held in (
        predicate["schedule"]["steps"],
        predicate["events"],
        predicate["trajectory"]["steps"],
    ):
        held.pop()
    assert refusal(bound(statement)) == ("SCHEDULE_UNFINISHED", f"{P}/schedule/steps")


def test_an_output_too_short_for_its_decodes(statement: dict[str, Any]) -> None:
    for member in ("tokens", "logit_digests"):
        get(statement, f"{P}/outputs/0/{member}").pop()
    assert refusal(statement) == ("BAD_VALUE", f"{P}/outputs/0")


def test_what_a_stranger_may_ask_for_is_bounded(
    statement: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REPLAY_ROWS", 20)
    assert refusal(statement)[0] == "LIMIT_SIZE"
    monkeypatch.setattr(limits, "REPLAY_READINGS", 20)
    assert refusal(statement) == ("LIMIT_SIZE", f"{P}/schedule")


def test_the_numbers_of_all_ledgers_are_bounded(
    statement: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REPLAY_NUMBERS", 1000)
    code, at = refusal(statement)
    assert code == "LIMIT_SIZE"
    step = int(at.removeprefix(f"{P}/trajectory/steps/").removesuffix("/ledger"))
    monkeypatch.setattr(limits, "REPLAY_NUMBERS", 1000 * len(get(statement, f"{P}/events")))
    assert step > 0 and judge(statement).verdict == "DERIVED"


def test_a_decode_without_a_token_is_told_before_its_log(statement: dict[str, Any]) -> None:
    for member in ("tokens", "logit_digests"):
        get(statement, f"{P}/outputs/0/{member}").pop()
    request = get(statement, f"{P}/outputs/0/request")
    step, place = [
        (step, place)
        for step, actions in enumerate(get(statement, f"{P}/schedule/steps"))
        for place, action in enumerate(actions)
        if action["event"] == "decode" and action["request"] == request
    ][-1]
    get(statement, f"{P}/events/{step}/{place}")["published"].append(0)
    assert refusal(statement) == ("BAD_VALUE", f"{P}/outputs/0")


def test_a_run_is_folded_the_same_way_twice(seen: ReplaySeen, whole: dict[str, Any]) -> None:
    assert stated(seen) == whole


def test_an_output_that_is_left_out(statement: dict[str, Any]) -> None:
    statement["predicate"]["outputs"].pop()
    assert refusal(statement) == ("BAD_VALUE", f"{P}/outputs")


@pytest.mark.parametrize("name", ["model", "workload", "schedule"])
def test_a_subject_that_is_left_out(name: str, statement: dict[str, Any]) -> None:
    statement["subject"] = [entry for entry in statement["subject"] if entry["name"] != name]
    assert refusal(statement) == ("SUBJECT_MISMATCH", "/subject")


@pytest.mark.parametrize(
    ("name", "value"),
    [("temperature", "100.1"), ("top_p", "0"), ("top_p", "1.5"), ("min_p", "2")],
)
def test_sampling_parameters_out_of_range(statement: dict[str, Any], name: str, value: str) -> None:
    statement["predicate"]["workload"]["requests"][1]["sampling"][name] = value
    at = f"{P}/workload/requests/1/sampling/{name}"
    assert refusal(bound(statement)) == ("BAD_VALUE", at)


def test_a_model_of_a_folder_has_its_own_stop_tokens(statement: dict[str, Any]) -> None:
    model = statement["predicate"]["model"]
    model["recipe"] = None
    assert judge(statement).verdict == "DERIVED"
    for stop in ([3, 3], [4, 3], [256]):
        model["stop_tokens"] = stop
        assert refusal(statement) == ("BAD_VALUE", f"{P}/model/stop_tokens")


def test_a_sequence_that_is_longer_than_the_model(statement: dict[str, Any]) -> None:
    requests = statement["predicate"]["workload"]["requests"]
    lengths = [len(request["prompt"]) + request["max_new"] for request in requests]
    model = statement["predicate"]["model"]
    model |= {"recipe": None, "max_positions": max(lengths)}
    assert judge(statement).verdict == "DERIVED"
    model["max_positions"] -= 1
    at = f"{P}/workload/requests/{lengths.index(max(lengths))}"
    assert refusal(statement) == ("SEQUENCE_TOO_LONG", at)


def emitted(statement: dict[str, Any], greedy: bool) -> list[tuple[int, int]]:
    """Give the places of tokens of outputs, of greedy requests or of the others."""
    pairs = zip(
        statement["predicate"]["workload"]["requests"],
        statement["predicate"]["outputs"],
        strict=True,
    )
    return [
        (i, j)
        for i, (request, output) in enumerate(pairs)
        if (request["sampling"]["temperature"] == "0") == greedy
        for j in range(len(output["tokens"]))
    ]


def test_greedy_tokens_of_equal_logits_are_equal(statement: dict[str, Any]) -> None:
    outputs = statement["predicate"]["outputs"]
    places = emitted(statement, greedy=True)
    i, j = places[0]
    k, m = next(at for at in places if outputs[at[0]]["tokens"][at[1]] != outputs[i]["tokens"][j])
    outputs[k]["logit_digests"][m] = outputs[i]["logit_digests"][j]
    assert refusal(statement) == ("BAD_VALUE", f"{P}/outputs/{k}/tokens/{m}")


def test_a_temperature_is_greedy_below_the_least_that_draws(statement: dict[str, Any]) -> None:
    """The least is that of [SAMP-12]."""
    requests = statement["predicate"]["workload"]["requests"]
    outputs = statement["predicate"]["outputs"]
    places = emitted(statement, greedy=True)
    i, j = places[0]
    k, m = next(at for at in places if outputs[at[0]]["tokens"][at[1]] != outputs[i]["tokens"][j])
    outputs[k]["logit_digests"][m] = outputs[i]["logit_digests"][j]
    contradicted = ("BAD_VALUE", f"{P}/outputs/{k}/tokens/{m}")
    requests[k]["sampling"]["temperature"] = "0.000009999"
    assert refusal(statement) == contradicted
    requests[k]["sampling"]["temperature"] = "0.00001"
    assert refusal(statement)[0] == "TRAJECTORY_NOT_DERIVED"


def test_drawn_tokens_of_equal_logits_may_differ(statement: dict[str, Any]) -> None:
    outputs = statement["predicate"]["outputs"]
    i, j = emitted(statement, greedy=True)[0]
    k, m = emitted(statement, greedy=False)[0]
    outputs[k]["tokens"][m] = (outputs[i]["tokens"][j] + 1) % 255 + 1
    outputs[k]["logit_digests"][m] = outputs[i]["logit_digests"][j]
    # That the token is another one than was drawn shows in the trajectory alone.
    assert refusal(statement)[0] == "TRAJECTORY_NOT_DERIVED"


def test_parts_of_logits_are_equal_where_their_rows_are() -> None:
    parts = LogitParts()
    silent = framed("lockstep/logits/1", b"").hex()
    parts.check([], silent, "/0")
    parts.check(["a", "b"], "1", "/1")
    parts.check(["b", "a"], "2", "/2")
    parts.check(["a", "b"], "1", "/3")
    for digests, part in (([], "1"), (["a", "b"], "2"), (["a"], "1"), (["a"], silent)):
        with pytest.raises(Refusal) as caught:
            parts.check(digests, part, "/4")
        assert (caught.value.code, caught.value.pointer) == ("TRAJECTORY_NOT_DERIVED", "/4")


def test_two_steps_with_one_part_of_logits(statement: dict[str, Any]) -> None:
    steps = statement["predicate"]["trajectory"]["steps"]
    emits = [any(e["event"] == "decode" for e in log) for log in statement["predicate"]["events"]]
    first, second = [step for step, speaks in enumerate(emits) if speaks][:2]
    steps[second]["logits"] = steps[first]["logits"]
    at = f"{P}/trajectory/steps/{second}/logits"
    assert refusal(statement) == ("TRAJECTORY_NOT_DERIVED", at)


def test_logits_of_a_step_that_emits_nothing(statement: dict[str, Any]) -> None:
    steps = statement["predicate"]["trajectory"]["steps"]
    emits = [any(e["event"] == "decode" for e in log) for log in statement["predicate"]["events"]]
    silent = emits.index(False)
    steps[silent]["logits"] = ZERO
    assert refusal(statement) == ("TRAJECTORY_NOT_DERIVED", f"{P}/trajectory/steps/{silent}/logits")


def test_logits_of_a_step_that_emits_are_chained(statement: dict[str, Any]) -> None:
    steps = statement["predicate"]["trajectory"]["steps"]
    emits = [any(e["event"] == "decode" for e in log) for log in statement["predicate"]["events"]]
    speaking = emits.index(True)
    steps[speaking]["logits"] = ZERO
    at = f"{P}/trajectory/steps/{speaking}/chain"
    assert refusal(statement) == ("TRAJECTORY_NOT_DERIVED", at)


def test_each_action_counts_as_a_reading_of_the_pool(
    statement: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = statement["predicate"]["schedule"]
    steps = schedule["steps"]
    each = schedule["pool"]["blocks"] + len(statement["predicate"]["workload"]["requests"])
    readings = sum(1 + len(actions) for actions in steps) * each
    monkeypatch.setattr(limits, "REPLAY_READINGS", readings)
    assert judge(statement).verdict == "DERIVED"
    monkeypatch.setattr(limits, "REPLAY_READINGS", readings - 1)
    assert refusal(statement) == ("LIMIT_SIZE", f"{P}/schedule")
