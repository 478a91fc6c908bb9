"""Withdrawals: which count, against what, and what is left of a certificate."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate.envelope import sign_statement
from lockstep_verify import cli
from tests.measurement_records import signed_statement
from tests.refusals import refused
from tests.statements import judge, put, refusal
from tests.withdrawal_records import CLAIM, OTHER, OWN, STRANGER, place, withdrawal

Verify = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Give what a verifier says of the certificate beside some withdrawals, as JSON objects."""

    def run(*held: bytes, roles: tuple[str, str] = ("producer", "producer")) -> list[Any]:
        cli.main(place(tmp_path, *held, roles=roles))
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def test_a_withdrawn_claim_is_refused_and_told(verify: Verify) -> None:
    (alone,) = verify()
    assert alone["code"] == "OK"
    first, second = verify(sign_statement(withdrawal(), [OTHER]))
    assert (first["code"], first["verdict"]) == ("OK", "WITHDRAWN")
    assert (second["code"], second["exit"]) == ("CLAIM_WITHDRAWN", 3)
    assert second["pointer"] == CLAIM["pointer"]
    told = [line for line in second["lines"] if line.startswith("WITHDRAWN")]
    assert told == ["WITHDRAWN /predicate/published/1: No repeat showed it."]
    # What was derived is told nevertheless.
    assert second["verdict"] == "CONTRADICTED"


def test_the_whole_certificate_can_be_withdrawn(verify: Verify) -> None:
    instead = {**CLAIM, "pointer": "", "replacement": {"says": "another"}}
    _, second = verify(sign_statement(withdrawal(instead), [OWN]))
    assert (second["code"], second["pointer"]) == ("CLAIM_WITHDRAWN", "")
    assert second["lines"][-1].endswith("Instead: another")


def test_a_key_of_another_role_withdraws_nothing(verify: Verify) -> None:
    held = sign_statement(withdrawal(), [OTHER])
    first, second = verify(held, roles=("producer", "auditor"))
    assert (first["code"], second["code"]) == ("OK", "OK")
    (told,) = [line for line in second["lines"] if line.startswith("not counted")]
    assert told.endswith("ROLE_NOT_ALLOWED")


def test_a_stranger_withdraws_nothing_and_is_heard_of(verify: Verify) -> None:
    first, second = verify(sign_statement(withdrawal(), [STRANGER]))
    assert (first["code"], second["code"]) == ("UNTRUSTED_SIGNER", "OK")


def test_a_withdrawal_of_another_certificate_changes_nothing(verify: Verify) -> None:
    other = sign_statement(signed_statement(published=[]), [OWN])
    held = withdrawal({**CLAIM, "pointer": "/predicate/counts"}, certificate=other)
    _, second = verify(sign_statement(held, [OWN]))
    assert second["code"] == "OK"


@pytest.mark.parametrize(
    ("place", "value", "pointer"),
    [("claims/0/value_sha256", "0" * 64, CLAIM["pointer"]),
     ("claims/0/pointer", "/predicate/published/9", "/predicate/published/9"),
     ("claims/0/pointer", "/predicate/published/01", "/predicate/published/01"),
     ("claims/0/pointer", "/predicate/published/-", "/predicate/published/-"),
     ("claims/0/pointer", "/predicate/verdict/0", "/predicate/verdict/0"),
     ("certificate/predicate_type", "urn:lockstep:certificate:hunt:v1", "/predicateType")],
)  # fmt: skip
def test_a_withdrawal_of_what_is_not_there_is_a_mismatch(
    verify: Verify, place: str, value: str, pointer: str
) -> None:
    wrong = withdrawal()
    put(wrong, f"/predicate/{place}", value)
    first, second = verify(sign_statement(wrong, [OWN]))
    assert first["code"] == "OK"
    assert (second["code"], second["pointer"]) == ("WITHDRAWAL_MISMATCH", pointer)


MUTATIONS = [
    ("claims/0/pointer", "/subject", "BAD_VALUE", "claims/0/pointer"),
    ("claims/1/pointer", "/predicate/arms", "BAD_VALUE", "claims/1/pointer"),
    ("claims/1/pointer", "/predicate/published/1", "BAD_VALUE", "claims/1/pointer"),
    ("claims/1/replacement/pointer", None, "BAD_VALUE", "claims/1/replacement/pointer"),
    ("claims/1/replacement/pointer", "/predicate/verdict", "BAD_VALUE", "claims/1/replacement"),
    ("counts/claims", 1, "H10_COUNTS_DO_NOT_RECOMPUTE", "counts/claims"),
    ("counts/replaced", 0, "H10_COUNTS_DO_NOT_RECOMPUTE", "counts/replaced"),
    ("not_run", ["nothing"], "BAD_VALUE", "not_run"),
]


@pytest.mark.parametrize(("place", "value", "code", "at"), MUTATIONS)
def test_each_rule_refuses_its_mutation(place: str, value: object, code: str, at: str) -> None:
    instead = {"payload_sha256": "same", "pointer": "/predicate/counts", "says": "counts"}
    whole = withdrawal(CLAIM, {**CLAIM, "pointer": "/predicate/verdict", "replacement": instead})
    assert judge(whole).counts == {"claims": 2, "replaced": 1}
    wrong = copy.deepcopy(whole)
    put(wrong, f"/predicate/{place}", value)
    assert refusal(wrong) == (code, f"/predicate/{at}")


def test_a_withdrawal_is_bound_to_its_certificate() -> None:
    wrong = withdrawal()
    put(wrong, "/predicate/certificate/payload_sha256", "0" * 64)
    assert refusal(wrong) == ("SUBJECT_MISMATCH", "/subject/1/digest/sha256")


@pytest.mark.parametrize(
    "pointer",
    ["/predicate/none", "/predicate/published/9", "/predicate/published/-1",
     "/predicate/published/01", "/predicate/verdict/x"],
)  # fmt: skip
def test_the_producer_withdraws_only_what_is_there(pointer: str) -> None:
    refused("WITHDRAWAL_MISMATCH", lambda: withdrawal({**CLAIM, "pointer": pointer}))


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"[]", "NOT_AN_OBJECT"), (b'{"payload": "AAAA"}', "NOT_AN_OBJECT"),
     (b'{"payload": "W10="}', "NOT_AN_OBJECT"), (b'{"payload": "e30="}', "NOT_AN_OBJECT"),
     (b'{"payload": "!"}', "BASE64_NONCANONICAL")],
)  # fmt: skip
def test_the_producer_withdraws_of_a_certificate_alone(data: bytes, code: str) -> None:
    refused(code, lambda: withdrawal(certificate=data))


@pytest.mark.parametrize(
    ("options", "told"), [((), "a folder"), (("--unsigned",), "signed certificates")]
)
def test_a_folder_that_cannot_be_heeded_is_a_fault_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], told: str
) -> None:
    folder = tmp_path / "none"
    assert cli.main([*options, "--withdrawals", str(folder), str(tmp_path / "c.cert.json")]) == 2
    said = capsys.readouterr()
    assert f"--withdrawals: {told}" in said.out + said.err
