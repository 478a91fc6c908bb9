package hunt

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const (
	notDerived   = "H2_VERDICT_NOT_DERIVED"
	noDecode     = "H13_TOKEN_CLAIM_WITHOUT_A_DECODE"
	countsDiffer = "H10_COUNTS_DO_NOT_RECOMPUTE"
)

// observationNames are in the order of [HUNT-6].
var observationNames = []string{
	"forward_reproduces_target", "roundtrip_byte_identical",
	"roundtrip_diff_is_exactly_unread_padding", "tokens_identical",
}

// row is a row with what was derived for it.
type row struct {
	stated   *lcj.Object
	id       string
	src, dst *declared
	frontier string
	verdict  string
	words    []string
	// unread is unread_padding_positions; 0 without a proof.
	unread int64
}

func (r *row) observation(name string) any {
	return r.stated.Object("observations").Member(name)
}

// lossless says whether a row converts between two lossless layouts ([HUNT-8]).
func (r *row) lossless() bool {
	return r.frontier == "" && r.src.Quantisation == "none" && r.dst.Quantisation == "none"
}

// checkRows is step 5.
func (d *derivation) checkRows() *refusal.Refusal {
	for i := range d.rows {
		if err := d.checkRow(&d.rows[i], refusal.Index("/predicate/rows", i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *derivation) checkRow(r *row, pointer string) *refusal.Refusal {
	r.frontier = frontier(r.src, r.dst, d.geometry)
	expected := any(nil)
	if r.frontier != "" {
		expected = r.frontier
	}
	if err := compare(r.stated, pointer, []expectation{{"frontier_code", expected, notDerived}}); err != nil {
		return err
	}
	if err := d.checkProof(r, pointer+"/proof"); err != nil {
		return err
	}
	if err := d.checkObservations(r, pointer+"/observations"); err != nil {
		return err
	}
	r.verdict = r.fold()
	r.words = words(r.src, r.dst, d.geometry)
	listed := []any{}
	for _, word := range r.words {
		listed = append(listed, word)
	}
	const trivial = "H5_TRIVIAL_TRANSFORMATION"
	err := compare(r.stated, pointer, []expectation{
		{"verdict", r.verdict, notDerived}, {"transformations", listed, trivial},
	})
	if err != nil {
		return err
	}
	if len(r.words) == 0 && r.exact() {
		return refusal.New(trivial, pointer+"/transformations")
	}
	return r.checkBytes(pointer)
}

func (r *row) exact() bool {
	return r.verdict == "EXACT_BYTE" || r.verdict == "EXACT_TOKEN"
}

// checkProof is [HUNT-9].
func (d *derivation) checkProof(r *row, pointer string) *refusal.Refusal {
	proof, present := r.stated.Member("proof").(*lcj.Object)
	if r.frontier != "" {
		if present {
			return refusal.New(notDerived, pointer)
		}
		return nil
	}
	if !present {
		return refusal.New("H3_PROOF_MISSING", pointer)
	}
	const partial = "H4_PROOF_NOT_EXHAUSTIVE"
	src, dst := r.src.realised, r.dst.realised
	r.unread = int64(len(d.predicate.Object("transfer").List("layers"))) * src.Padding
	err := compare(proof, pointer, []expectation{
		{"positions_checked", dst.Positions, partial},
		{"positions_total", dst.Positions, partial},
		{"source_positions_checked", src.Positions, partial},
		{"source_positions_total", src.Positions, partial},
		{"dest_padding_positions", dst.Padding, partial},
		{"source_padding_positions", src.Padding, partial},
		{"unread_padding_positions", r.unread, partial},
		{"dest_bijective", true, notDerived},
		{"source_bijective", true, notDerived},
		{"gather_agrees", true, notDerived},
	})
	if err != nil {
		return err
	}
	return d.checkLemmas(r, proof.Objects("lemmas"), pointer+"/lemmas")
}

// checkObservations is [HUNT-8], and [HUNT-9] for refused rows.
func (d *derivation) checkObservations(r *row, pointer string) *refusal.Refusal {
	tokens := any(nil)
	if r.observation("tokens_identical") != nil {
		decoded, reference, ok := d.decode(r)
		if !ok {
			return refusal.New(noDecode, pointer+"/tokens_identical")
		}
		tokens = slices.Equal(decoded, reference)
		if r.lossless() {
			// A lossless row whose tokens differ is refused, whatever it says.
			tokens = true
			if !slices.Equal(decoded, reference) {
				return refusal.New(notDerived, pointer+"/tokens_identical")
			}
		}
	}
	kept := func(from, to *declared) bool {
		return from.Quantisation == "none" || from.Quantisation == to.Quantisation
	}
	var given []any
	if r.frontier == "" {
		given = []any{
			kept(r.src, r.dst),
			kept(r.dst, r.src) && r.src.realised.Padding == 0,
			kept(r.dst, r.src),
			tokens,
		}
	} else {
		given = make([]any, len(observationNames))
	}
	for i, name := range observationNames {
		stated := r.observation(name)
		if stated != nil && stated != given[i] {
			return refusal.Expecting(notDerived, pointer+"/"+name,
				string(lcj.Encode(given[i])), string(lcj.Encode(stated)))
		}
	}
	return nil
}

// decode gives a row's decoded tokens and those of its reference, where both stand in transfer.
func (d *derivation) decode(r *row) (decoded, reference []int64, ok bool) {
	transfer := d.predicate.Object("transfer")
	for _, entry := range transfer.Objects("rows") {
		if entry.Text("pair_id") == r.id {
			decoded = entry.Ints("decoded_tokens")
			break
		}
	}
	anchor := d.groups[d.demanded[r.id].group].anchor.Name
	for _, entry := range transfer.Objects("references") {
		if entry.Text("anchor") == anchor {
			reference = entry.Ints("tokens")
			break
		}
	}
	return decoded, reference, decoded != nil && reference != nil
}

func (r *row) fold() string {
	seen := make([]any, len(observationNames))
	for i, name := range observationNames {
		seen[i] = r.observation(name)
	}
	return Verdict(r.frontier, seen)
}

// Verdict is [HUNT-7]: seen holds true, false or nil, in the order of [HUNT-6]; an empty frontier
// is none.
func Verdict(frontier string, seen []any) string {
	if len(seen) != len(observationNames) {
		panic("a row has four observations")
	}
	forward, bytes, difference, tokens := seen[0], seen[1], seen[2], seen[3]
	switch {
	case frontier != "":
		return "REFUSED"
	case slices.Contains(seen, nil):
		return "UNPROVEN"
	case forward == false, difference == false, tokens == false:
		return "NOT_EXACT"
	case bytes == true:
		return "EXACT_BYTE"
	}
	return "EXACT_TOKEN"
}

func (r *row) checkBytes(pointer string) *refusal.Refusal {
	expected := any(nil)
	if r.frontier == "" {
		expected = lcj.NewObject().
			Set("src", r.src.realised.NativeBytes).Set("dst", r.dst.realised.NativeBytes)
	}
	return compare(r.stated, pointer, []expectation{
		{"native_bytes", expected, "COVERAGE_DENOMINATOR_NOT_DERIVED"},
	})
}
