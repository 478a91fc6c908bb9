"""What a certificate says that its claim does not cover: sentences of the specification, first."""

from collections.abc import Sequence

from lockstep_verify.errors import Refusal


def check_not_run(stated: list[str], sentences: Sequence[str]) -> None:
    """See that a certificate says at least what no certificate of its kind covers.

    Args:
        stated: the member `not_run` of the predicate.
        sentences: what the kind's rule says that it begins with.

    Raises:
        Refusal: BAD_VALUE, it begins otherwise.
    """
    begins = stated[: len(sentences)]
    if begins != list(sentences):
        raise Refusal("BAD_VALUE", "/predicate/not_run", list(sentences), begins)
