"""Every limit of the verifier, with its unit and its reason (BYTES-2, LCJ-3, LCJ-5, ENV-1)."""

MIB = 1 << 20

ENVELOPE_BYTES = 17 * MIB
"""Base64 of the largest payload, its signatures, and room to spare."""

PAYLOAD_BYTES = 12 * MIB
"""What a reader in any language can parse in a second or so; more belongs in sidecars."""

POLICY_BYTES = MIB
"""Thousands of keys; a policy is written by people."""

EVIDENCE_BYTES = 1024 * MIB
"""Sidecars are hashed in pieces, never held whole."""

PUBLISHED_BYTES = PAYLOAD_BYTES
"""Published documents are bare payloads."""

ENVELOPE_MARKS = 1_000_000
"""Commas and opening brackets of an envelope, which has about fifty. A stranger's file of so many
is read in under two seconds, and one that nests too deeply is still told so."""

PAYLOAD_MARKS = 1_500_000
"""The same of a payload; a hunt of the most rows and tokens has fewer, and fits into memory."""

PUBLISHED_MARKS = 400_000
"""The same of a published document, which is read slowly and kept with a pointer to each leaf."""

DEPTH = 64
"""Arrays and objects open at once; far below the recursion limit of any runtime."""

INTEGER = (1 << 53) - 1
"""The largest magnitude that a double holds exactly, with its neighbours."""

SIGNATURES = 16
"""Signatures of one envelope; it bounds the work that a stranger can ask for."""

READ_BYTES = MIB
"""One read; a piece of this size is checked against the limit before the next."""

SHOWN_CHARACTERS = 300
"""The longest value from a document that is printed."""

WALKED_POSITIONS = 200_000
"""Native positions that are walked of each distinct image: a blink of work in Python."""

WALKED_TOTAL = 1_000_000
"""Native positions that are walked of all images together; what a stranger can ask for."""

LAYOUT_SOURCE_BYTES = 1 << 14
"""The source file of a layout is written by people, and parsed."""

LEAN_SOURCE_BYTES = 4 * MIB
"""A source of lemmas is written by people, or generated as a table; it is hashed, not parsed."""

LAYOUT_SOURCE_DOTS = 32
"""Dots in one line of it; names of thousands of steps cost seconds to read."""

EXPORT_BYTES = 256 * MIB
"""An export of all lemmas has some dozens; it is read line by line but held whole."""

EXPORT_LINES = 4_000_000
"""A line is a name, level, term or declaration, and costs some hundreds of bytes of memory."""

EXPORT_LINE_BYTES = 32 * MIB
"""The longest lines are literals of packed tables and groups of many constructors."""

EXPORT_DEPTH = 100_000
"""Terms and levels within one another; lists that are written out nest by element."""

EXPORT_NAME_PARTS = 64
"""Components of a name."""

EXPORT_COUNT = (1 << 32) - 1
"""Indices, sizes and heights, which Lean keeps in 32 bits or bounds by what fits in memory."""

EXPORT_DIGITS = 200_000
"""Digits of a numeral; a packed table of 12,544 positions has some 60,000."""

KERNEL_STEPS = 20_000_000
"""Steps of computation for one declaration: some minutes. The largest tables are left to Lean."""

KERNEL_TERMS = 20_000
"""Terms made for one declaration beyond which they are dropped once it has been checked."""

KERNEL_NUMBER_BITS = 1 << 24
"""Bits of a number that arithmetic on literals may make."""

KERNEL_FRAMES = 200_000
"""Calls within one another; a term that needs more is told to be too deep."""

KERNEL_STACK_BYTES = 512 * MIB
"""The stack of the checking thread, of which only what is used is ever taken."""

SCRIPT_BYTES = 16 * MIB
"""A script of queries; those of a layout are some dozens of kilobytes."""

IDENTIFY_SECONDS = 10
"""The longest that a program may take to say which solver it is."""

SOLVE_SECONDS = 1800
"""One solver's run over all queries of a certificate, which takes a minute where it is not busy."""

REPLAY_READINGS = 1 << 22
"""Blocks and requests, times steps and actions of a schedule, each of which may read them all."""

REPLAY_NUMBERS = 1 << 24
"""Numbers in the ledgers of all steps of a replay: tables may share blocks, and so be long."""

REPLAY_ROWS = 1 << 20
"""Rows of all batches of a replayed schedule; each costs a microsecond or two."""

FINDING_WORK = 1 << 25
"""Blocks and tokens of a case, times its steps, actions and requests, times its removals: each
removal is followed on a machine of its own, some seconds in all."""

REPLAY_SECONDS = 3600
"""The longest that an execution in a process of its own may take."""

SAMPLING_PAIRS = 1 << 18
"""Pairs of token and log-probability of a certificate; each costs some ten microseconds."""

EXPERIMENT_POSITIONS = 1 << 20
"""Positions of all series of a certificate: the bounds of a series that is full take a tenth of a
second, and so 64 of them some seconds."""

EXPERIMENT_VALUES = 1 << 16
"""Values of all distances of a certificate, which are sorted."""

DISTANCE_PAIRS = 1 << 17
"""Pairs of token and log-probability of a calibration; each costs some ten microseconds."""

FRACTION_BITS = 1329
"""Bits of an integer of 400 decimal digits, the most that a schema admits; more are not written."""
