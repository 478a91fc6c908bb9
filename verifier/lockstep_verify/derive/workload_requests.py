"""The requests of a workload, beside what is stated of the model [RPL-8, step 2]."""

from decimal import Decimal
from typing import Any

from lockstep_verify.errors import Refusal

_MOST = {"temperature": 100, "top_p": 1, "min_p": 1}
"""The most that sampling parameters may be; none is below 0, and top_p is above [SCHED-7]."""


def check_requests(requests: list[dict[str, Any]], model: dict[str, Any], at: str) -> None:
    """Hold each request's id, prompt, length and sampling parameters to their bounds.

    Args:
        requests: of the workload, of the schema's form.
        model: what is stated of it, with `vocab_size` and `max_positions`.
        at: pointer of the list.

    Raises:
        Refusal: DUPLICATE_REQUEST, TOKEN_OUT_OF_RANGE, SEQUENCE_TOO_LONG or BAD_VALUE.
    """
    ids: set[str] = set()
    for i, request in enumerate(requests):
        if request["id"] in ids:
            raise Refusal("DUPLICATE_REQUEST", f"{at}/{i}/id", "distinct ids", request["id"])
        ids.add(request["id"])
        for j, token in enumerate(request["prompt"]):
            if token >= model["vocab_size"]:
                raise Refusal("TOKEN_OUT_OF_RANGE", f"{at}/{i}/prompt/{j}", "a token", token)
        length, longest = len(request["prompt"]) + request["max_new"], model["max_positions"]
        if length > longest:
            raise Refusal("SEQUENCE_TOO_LONG", f"{at}/{i}", f"at most {longest} tokens", length)
        for name, most in _MOST.items():
            value = request["sampling"][name]
            if Decimal(value) > most or (name == "top_p" and Decimal(value) == 0):
                raise Refusal("BAD_VALUE", f"{at}/{i}/sampling/{name}", f"at most {most}", value)
