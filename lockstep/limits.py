"""Every limit of the producer, with its unit and its reason."""

PROBE_CHUNK_POSITIONS = 1 << 17
"""Positions walked at once: a chunk's arrays of 8 bytes then stay within a core's cache."""

LAYER_PROBE_POSITIONS = 4096
"""Positions probed at each end of a layer for the layer axis, which moves all of them alike."""

PAIR_WALK_ELEMENTS = 100_000
"""Canonical elements of a layer up to which each pair is walked by itself, not only composed,
is moved in every layer under every payload, and is decoded from its own bytes."""

IMAGE_BYTES = 1 << 30
"""Bytes of layouts' images that a hunt keeps; past these an image is written anew when needed."""

MODEL_SEEDS = 16
"""Weight seeds that are tried in turn for a reference that is not degenerate."""

TRANSFER_THREADS = 2
"""Pairs moved at once in large layers; each holds some copies of a layer."""

FALSIFY_SECONDS = 120
"""A verifier process over some dozens of mutants; one that takes longer hangs."""

FALSIFY_PROCESSES = 2
"""Verifier processes side by side: most of their time is the start of an interpreter."""

MUTANT_SECONDS = 2.0
"""The longest that the verifier may take over one mutant."""

MUTANT_FIRST_SECONDS = 30.0
"""The first answer waits for an interpreter, on a machine that may be busy."""

MUTANT_MEMORY_BYTES = 512 << 20
"""The most address space that the verifier may take over mutants, its interpreter included."""

FUZZ_FAILURES = 100
"""Failures of a campaign that are kept whole; one defect shows in many mutants."""

FUZZ_STEPS = 4096
"""Steps of a fuzzed run: its policies bound preemptions and pauses, so that hundreds suffice."""

CLUSTER_SECONDS = 10
"""Time that a cluster's head node has to take a connection."""

FUZZ_PROBE_DRAWS = 4096
"""Cases that are drawn for a probe; the rarest triples take some hundred."""

SOLVER_MILLISECONDS = 60_000
"""The longest that a solver may take over one query; those that are asked take milliseconds."""

LEAN_PROCESSES = 2
"""Lean processes side by side; each takes a core and some hundred MB."""

LEAN_SECONDS = 600
"""The longest that one module, or Lake over all of them, may take."""

OLEAN_BYTES = 1 << 29
"""An .olean is read whole; those of the largest modules have some dozens of MiB."""

DOCUMENT_BYTES = 1 << 26
"""A workload or schedule file; its values take some ten times as much memory."""

WORKLOAD_REQUESTS = 4096
"""Requests of a workload; each step of the reference machine copies a list of them."""

PROMPT_TOKENS = 1 << 18
"""Tokens of a prompt, and tokens that a request may emit: above the context of models in use."""

TOKEN_ID = (1 << 31) - 1
"""The largest token id: kernels index with 32 bits."""

SCHEDULE_STEPS = 1_000_000
"""Steps of a schedule, and so the step before which a request must arrive."""

STEP_ACTIONS = 65_536
"""Actions of a step: some for each of the most requests that there can be."""

POOL_BLOCKS = 1 << 20
"""Blocks of a pool; each step of the reference machine copies a list of them."""

BLOCK_SLOTS = 4096
"""Token slots of a block; engines in use have 8 to 128."""

MODEL_LAYERS = 1024
"""Layers of a model; bounds the names that are made before any file of weights is read."""

MODEL_DIMENSION = 1 << 24
"""A size of a model, in elements; above any vocabulary in use."""

MODEL_POSITIONS = 1 << 20
"""Positions of a model: what the tables of the rotary embedding are stated for."""

MODEL_JSON_BYTES = 1 << 20
"""A model's configuration; those in use have some KB."""

MODEL_INDEX_BYTES = 1 << 26
"""The index of a model's shards, or its tokenizer; those in use have some MB."""

DOCTOR_SECONDS = 60
"""The longest that one look for a tool may take; importing torch takes some seconds."""

MUTATION_CELL_CPU_SECONDS = 30
"""Processor time in which an observer must end; on the engine as it is it takes up to five."""

MUTATION_CELL_SECONDS = 300
"""The longest that an observer may take by the clock, on a machine that may be busy."""

MUTATION_TRIAL_SECONDS = 1800
"""The longest that a trial may take, where its process cannot be interrupted from inside."""

SERVED_BODY_BYTES = 1 << 24
"""The body of a request to the server: a prompt of the most tokens takes some MB as JSON."""

SERVED_CHOICES = 256
"""Sequences that one call of the server may ask for: prompts times choices."""

SERVED_TOP = 20
"""Log-probabilities beside a token's own that a call may ask for, as OpenAI's."""

SERVED_STOPS = 16
"""Stop strings, or stop tokens, of a call; OpenAI's has 4."""

SERVED_STOP_CHARACTERS = 256
"""Characters of a stop string; so many are held back while a text is streamed."""

RELATION_RUNS = 4096
"""Runs that a certificate of relations holds, by its schema; a record takes some kilobytes."""

EXECUTION_REQUESTS = 1024
"""Requests after which a server that is idle begins a new execution: what an execution keeps of
each of them, and the time of a step, grow with their number."""

EXECUTION_REQUESTS_MOST = 2048
"""Requests after which it begins one although it is not idle; new ones wait till the old end."""

EXECUTION_EVENTS = 100_000
"""Events after which an idle server begins a new execution; each takes some hundred bytes."""

EXECUTION_EVENTS_MOST = 400_000
"""Events after which it begins one although it is not idle."""

CASE_SECONDS = 600
"""The longest that a worker may take over one case; most take milliseconds, and one under a
mutation may never end."""

CERTIFIED_ANSWER_BYTES = 1 << 26
"""The answer of a server that is certified, streamed or whole: the log-probabilities of a long
prompt take some MB as JSON."""

CERTIFIED_LINE_BYTES = 1 << 25
"""A line of a streamed answer: an echoed prompt comes in one."""

CERTIFIED_PROMPTS = 1024
"""Items of a user's file: all of them are asked for at once."""

CERTIFIED_PROMPTS_BYTES = 1 << 24
"""A file of so many items, of 16 KiB each."""

SCORER_SECONDS = 600
"""For a user's scorer over the answers of one round; a model that judges takes its time."""

CERTIFIED_RECORDS_BYTES = 1 << 29
"""The file of a run of the certifier: a round with its answers takes some dozen kilobytes."""

MEASUREMENT_BYTES = 1 << 22
"""A document of records, written by people or a harness: some hundred bytes a record."""

OBSERVED_SECONDS = 600
"""For an engine to write its caches once: importing it takes most of that."""

REPORT_TABLE_ROWS = 50
"""Rows of a table that a report shows; the certificate has all of them."""

REPORT_BYTES = 1 << 23
"""A report: what a browser opens at once, also on a telephone; a certificate takes some 40 KB."""
