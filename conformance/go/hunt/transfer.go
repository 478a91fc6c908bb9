package hunt

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// checkTransfer is step 6.
func (d *derivation) checkTransfer() *refusal.Refusal {
	const pointer = "/predicate/transfer"
	transfer := d.predicate.Object("transfer")
	layers := transfer.Ints("layers")
	if !d.layersHold(layers) {
		return refusal.New(noDecode, pointer+"/layers")
	}
	proofs := slices.ContainsFunc(d.rows, func(r row) bool { return r.frontier == "" })
	if proofs && transfer.Int("gather_payloads") < 1 {
		return refusal.New(noDecode, pointer+"/gather_payloads")
	}
	if err := d.checkReferences(transfer, pointer+"/references"); err != nil {
		return err
	}
	return d.checkTransferRows(transfer, pointer+"/rows")
}

// layersHold is [HUNT-10]'s rule of `layers`.
func (d *derivation) layersHold(layers []int64) bool {
	if len(layers) == 0 {
		for i := range d.rows {
			for _, name := range observationNames {
				if d.rows[i].observation(name) != nil {
					return false
				}
			}
		}
		return true
	}
	for i := 1; i < len(layers); i++ {
		if layers[i] <= layers[i-1] {
			return false
		}
	}
	return layers[0] == 0 && layers[len(layers)-1] == d.geometry.Layers-1
}

func (d *derivation) checkReferences(transfer *lcj.Object, pointer string) *refusal.Refusal {
	var anchors, wanted []string
	for _, entry := range transfer.Objects("references") {
		anchors = append(anchors, entry.Text("anchor"))
	}
	for _, group := range d.groups {
		if !slices.Contains(wanted, group.anchor.Name) {
			wanted = append(wanted, group.anchor.Name)
		}
	}
	none := len(anchors) == 0 && len(transfer.List("rows")) == 0
	if !none && !slices.Equal(anchors, wanted) {
		return refusal.New(noDecode, pointer)
	}
	for i, entry := range transfer.Objects("references") {
		if int64(len(entry.List("tokens"))) != transfer.Int("steps") {
			return refusal.New(noDecode, refusal.Index(pointer, i)+"/tokens")
		}
	}
	return nil
}

func (d *derivation) checkTransferRows(transfer *lcj.Object, pointer string) *refusal.Refusal {
	entries := transfer.Objects("rows")
	for i := 1; i < len(entries); i++ {
		if entries[i].Text("pair_id") <= entries[i-1].Text("pair_id") {
			return refusal.New(noDecode, refusal.Index(pointer, i)+"/pair_id")
		}
	}
	for i, entry := range entries {
		at := refusal.Index(pointer, i)
		found := slices.IndexFunc(d.rows, func(r row) bool { return r.id == entry.Text("pair_id") })
		if found < 0 || d.rows[found].observation("tokens_identical") == nil {
			return refusal.New(noDecode, at+"/pair_id")
		}
		if int64(len(entry.List("decoded_tokens"))) != transfer.Int("steps") {
			return refusal.New(noDecode, at+"/decoded_tokens")
		}
		if !d.rows[found].differs(entry.Member("roundtrip_diff_positions")) {
			return refusal.New(noDecode, at+"/roundtrip_diff_positions")
		}
	}
	return nil
}

// differs is [HUNT-10]'s rule of `roundtrip_diff_positions`.
func (r *row) differs(stated any) bool {
	if r.observation("roundtrip_diff_is_exactly_unread_padding") == nil {
		return stated == nil
	}
	n, ok := stated.(int64)
	if r.dst.Quantisation != "none" {
		return ok && n > r.unread
	}
	return ok && n == r.unread
}
