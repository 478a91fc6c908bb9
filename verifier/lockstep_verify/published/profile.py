"""The constants of the published document's profile ([PUB-2], [PUB-5], [PUB-19]).

Names and required codes are the document's own identifiers. Nothing here is a
digest or a count of a particular run: counts are derived from the rows.
"""

from __future__ import annotations

SCHEMA = "[removed].exact-transformations/v1"
HUNT_ID = "sf-exact-transformation-hunt-v1"
CANONICAL_AXES = ["KV", "T", "H", "D"]
ANCHOR = "vllm-fa"
ELEMENT_BYTES = {"float16": 2}
ATTENTION = ("gqa", "mla")
BUFFERS = ("interleaved", "separate")
QUANT = ("none", "fp8_e4m3")
VERDICTS = ("EXACT_BYTE", "EXACT_TOKEN", "NOT_EXACT", "REFUSED", "UNPROVEN")
EXACT = ("EXACT_BYTE", "EXACT_TOKEN")

# The published verifier's own two minima, which no row decides.
DOD_FLOORS = {"dod_engines_min": 2, "dod_exact_rows_min": 2}

# Bounds on what is enumerated ([PUB-6]): slots of one layer of one engine, any extent, engines.
# Ten times the published document's own sizes; together they keep a hostile one under a second.
MAX_POSITIONS = 20_000
MAX_EXTENT = 20_000
MAX_ENGINES = 64

ROUNDTRIP_LEMMA = "ExactTransformCert.roundtrip_"
COMMON_LEMMAS = [
    "ExactTransform.comp_roundtrip",
    "ExactTransform.swap_involutive",
    "ExactTransform.factor_unfactor_id",
]
FRONTIER_LEMMAS = {
    "X1_LATENT_KV": "ExactTransform.latent_kv_not_a_permutation",
    "X2_HEAD_GATHER": "ExactTransform.head_gather_not_injective",
    "X4_GEOMETRY_UNREPRESENTABLE": "ExactTransform.factor_needs_divisibility",
}
# (kind, command) of a row's proof, by whether the row stands on the frontier.
PROOF_ORIGIN = {
    False: ("index-permutation-exhaustive", "make exact-hunt"),
    True: ("frontier", "make exact-hunt-frontier"),
}

VOCABULARY = (
    "reblock",
    "head_order_transpose",
    "kv_split",
    "kv_merge",
    "head_dim_vectorize",
    "head_dim_devectorize",
    "v_dim_transpose",
    "axis_permute",
    "requantize",
)
CHECKS = (
    "every_proof_matches_the_published_verifiers_field_set",
    "every_exact_row_is_proved_over_its_whole_re_derived_index_space",
    "no_exact_row_is_a_relabelling",
    "both_of_the_DoDs_exactness_classes_are_non_empty",
    "the_whole_transformation_vocabulary_is_exercised",
    "every_frontier_code_is_reached_by_a_row",
    "the_token_leg_is_not_vacuous",
    "the_reference_sequence_is_not_degenerate",
    "a_perfect_round_trip_does_not_make_a_transformation_exact",
    "token_identical_means_the_padding_and_nothing_else",
    "no_two_declared_engines_are_the_same_layout",
    "no_two_declared_engines_have_the_same_native_image",
    "every_engine_carries_a_citation_for_the_shape_it_claims",
    "every_lossless_engine_has_a_kernel_checked_round_trip_lemma_THAT_EXISTS",
    "the_lean_axis_exchange_is_the_operation_numpy_performs",
    "no_missing_observation_can_improve_a_row",
    "the_hunt_covers_every_ordered_pair_of_the_lossless_engines",
)
KNOWN_LIMITS = (
    "no-engine-runs-here",
    "a-data-dependent-layout-passes-the-gather-probe",
    "exactness-is-a-property-of-the-geometry-too",
    "token-identity-is-relative-to-this-model",
    "the-byte-token-split-is-the-padding-model",
    "the-lean-lemmas-are-about-index-arithmetic-not-about-layouts_py",
)
# Each falsification with the outcome that its guard must give.
FALSIFICATIONS = {
    "roundtrip-only-proof": "NOT_EXACT",
    "padding-read": "NOT_EXACT",
    "relabelled-engine": "H5_TRIVIAL_TRANSFORMATION",
    "the-same-pair-at-a-geometry-that-does-not-admit-it": "X4_GEOMETRY_UNREPRESENTABLE",
    "mla-destination": "X1_LATENT_KV",
    "tp-shard-destination": "X2_HEAD_GATHER",
    "x16-destination": "X4_GEOMETRY_UNREPRESENTABLE",
    "fp8-destination-runs-and-is-not-exact": "NOT_EXACT",
    "withholding-an-observation": "UNPROVEN",
    "verifier:verdict-relabelled": "H2_VERDICT_NOT_DERIVED@exit3",
    "verifier:observation-withheld": "H2_VERDICT_NOT_DERIVED@exit3",
    "verifier:corroboration-nulled": "H2_VERDICT_NOT_DERIVED@exit3",
    "verifier:one-position-is-the-whole-space": "H4_PROOF_NOT_EXHAUSTIVE@exit3",
    "verifier:guard-set-shrunk-to-one-each": "H8_FLOOR_BELOW_OBSERVATION@exit3",
    "verifier:unhashable-in-a-signed-list": "H0_DOCUMENT_UNREADABLE@exit1",
    "verifier:bijection-denied": "H2_VERDICT_NOT_DERIVED@exit3",
    "verifier:no-kernel-checked-lemma": "H3_PROOF_MISSING@exit3",
    "verifier:proof-deleted": "H3_PROOF_MISSING@exit3",
    "verifier:sampled-proof": "H4_PROOF_NOT_EXHAUSTIVE@exit3",
    "verifier:trivial-transformation": "H5_TRIVIAL_TRANSFORMATION@exit3",
    "verifier:hunt-emptied": "H6_HUNT_FOUND_NOTHING@exit3",
    "verifier:vocabulary-thinned": "H7_VOCABULARY_NOT_EXERCISED@exit3",
    "verifier:no-frontier": "H14_NO_FRONTIER@exit3",
    "verifier:floor-above-observation": "H8_FLOOR_BELOW_OBSERVATION@exit3",
    "verifier:check-failed-open": "H9_GUARD_FAILED_OPEN@exit3",
    "verifier:counts-do-not-recompute": "H10_COUNTS_DO_NOT_RECOMPUTE@exit3",
    "verifier:undeclared-engine": "H11_ENGINE_UNDECLARED@exit3",
    "verifier:pair-declared-twice": "H12_PAIR_DECLARED_TWICE@exit3",
    "verifier:token-claim-without-a-decode": "H13_TOKEN_CLAIM_WITHOUT_A_DECODE@exit3",
    "verifier:forged-signer": "H1_SIGNATURE_INVALID@exit3",
    "verifier:mutated-document": "H1_SIGNATURE_INVALID@exit3",
    "verifier:torn-document": "H0_DOCUMENT_UNREADABLE@exit1",
}
