"""Tokens and digests of logits in a replay: their form, and that they agree (RPL-7, RPL-8)."""

from collections.abc import Sequence
from typing import Any

from lockstep_verify.derive.replay_ledger import framed
from lockstep_verify.derive.sampling_weights import resolve
from lockstep_verify.errors import Refusal

_AT = "/predicate/outputs"
_TRAJECTORY = "TRAJECTORY_NOT_DERIVED"


def check_outputs(predicate: dict[str, Any]) -> None:
    """Judge the outputs by themselves (step 3).

    Raises:
        Refusal: BAD_VALUE, at the list, an output, or a token that another one contradicts.
    """
    requests, outputs = predicate["workload"]["requests"], predicate["outputs"]
    _require(_AT, len(requests), len(outputs))
    for i, (request, output) in enumerate(zip(requests, outputs, strict=True)):
        at = f"{_AT}/{i}"
        _require(f"{at}/request", request["id"], output["request"])
        tokens = output["tokens"]
        if len(tokens) > request["max_new"] or len(output["logit_digests"]) != len(tokens):
            expected = f"at most {request['max_new']} tokens, a digest each"
            raise Refusal("BAD_VALUE", at, expected, len(tokens))
        if max(tokens) >= predicate["model"]["vocab_size"]:
            raise Refusal("BAD_VALUE", at, "tokens of the vocabulary", max(tokens))
    _check_greedy(requests, outputs)


def _check_greedy(requests: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> None:
    """See that one row of logits has one first largest [ENG-13]."""
    greedy: dict[str, int] = {}
    for i, (request, output) in enumerate(zip(requests, outputs, strict=True)):
        if not resolve(request["sampling"]["temperature"], None, None, None).greedy:
            continue
        pairs = zip(output["tokens"], output["logit_digests"], strict=True)
        for j, (token, digest) in enumerate(pairs):
            _require(f"{_AT}/{i}/tokens/{j}", greedy.setdefault(digest, token), token)


class LogitParts:
    """The parts `logits` of the steps so far, and the digests of the rows that they are of."""

    def __init__(self) -> None:
        silent = framed("lockstep/logits/1", b"").hex()
        self._parts: dict[tuple[str, ...], str] = {(): silent}
        self._rows: dict[str, tuple[str, ...]] = {silent: ()}

    def check(self, digests: Sequence[str], stated: str, at: str) -> None:
        """Judge the part of a step, as far as the digests of its rows tell (step 5).

        Args:
            digests: of the step's output rows, in packing order.
            stated: the part, in hex; where nothing contradicts it, the signer's word.
            at: where it stands.

        Raises:
            Refusal: TRAJECTORY_NOT_DERIVED, a part that the same rows had otherwise, or that
                other rows had.
        """
        rows = tuple(digests)
        part = self._parts.setdefault(rows, stated)
        if part != stated:
            raise Refusal(_TRAJECTORY, at, part, stated)
        if self._rows.setdefault(part, rows) != rows:
            raise Refusal(_TRAJECTORY, at, "another part than that of other rows", stated)


def _require(pointer: str, expected: object, got: object) -> None:
    if expected != got:
        raise Refusal("BAD_VALUE", pointer, expected, got)
