package hunt

import (
	"slices"
	"sort"

	"lockstep/conformance/go/refusal"
)

// group is a group of [HUNT-1], with those of its members that are lossless there ([HUNT-3]).
type group struct {
	anchor   *declared
	lossless []*declared
}

// demand says which group first demands a pair.
type demand struct {
	group int
}

// checkGroups is step 3; it also collects the pairs of [HUNT-3].
func (d *derivation) checkGroups() *refusal.Refusal {
	for i, entry := range d.predicate.Objects("groups") {
		pointer := refusal.Index("/predicate/groups", i)
		members := entry.Texts("members")
		for j, member := range members {
			if d.byName[member] == nil {
				return refusal.New("H11_ENGINE_UNDECLARED", refusal.Index(pointer+"/members", j))
			}
		}
		anchor := d.byName[entry.Text("anchor")]
		if anchor == nil {
			return refusal.New("H11_ENGINE_UNDECLARED", pointer+"/anchor")
		}
		for j, member := range members {
			if slices.Contains(members[:j], member) {
				return refusal.New("BAD_VALUE", refusal.Index(pointer+"/members", j))
			}
		}
		if !slices.Contains(members, anchor.Name) || anchor.realised == nil || anchor.Quantisation != "none" {
			return refusal.New("BAD_VALUE", pointer+"/anchor")
		}
		d.addGroup(i, anchor, members)
	}
	return nil
}

func (d *derivation) addGroup(index int, anchor *declared, members []string) {
	found := group{anchor: anchor}
	want := func(src, dst *declared) {
		if _, known := d.demanded[pairID(src, dst)]; !known {
			d.demanded[pairID(src, dst)] = demand{index}
		}
	}
	for _, name := range members {
		member := d.byName[name]
		if member.Quantisation == "none" && frontier(member, anchor, d.geometry) == "" {
			member.lossless = true
			found.lossless = append(found.lossless, member)
		} else {
			want(member, anchor)
			want(anchor, member)
		}
	}
	for _, src := range found.lossless {
		for _, dst := range found.lossless {
			if src != dst {
				want(src, dst)
			}
		}
	}
	d.groups = append(d.groups, found)
}

func pairID(src, dst *declared) string {
	return src.Name + "->" + dst.Name
}

// checkPairs is step 4.
func (d *derivation) checkPairs() *refusal.Refusal {
	var present []string
	for i, entry := range d.predicate.Objects("rows") {
		pointer := refusal.Index("/predicate/rows", i)
		src, dst := d.byName[entry.Text("src")], d.byName[entry.Text("dst")]
		if src == nil {
			return refusal.New("H11_ENGINE_UNDECLARED", pointer+"/src")
		}
		if dst == nil {
			return refusal.New("H11_ENGINE_UNDECLARED", pointer+"/dst")
		}
		id := entry.Text("pair_id")
		if id != pairID(src, dst) || i > 0 && id <= present[i-1] {
			return refusal.New("H12_PAIR_DECLARED_TWICE", pointer+"/pair_id")
		}
		present = append(present, id)
		d.rows = append(d.rows, row{stated: entry, id: id, src: src, dst: dst})
	}
	for i, id := range present {
		if _, ok := d.demanded[id]; !ok {
			return refusal.New("H12_PAIR_DECLARED_TWICE", refusal.Index("/predicate/rows", i)+"/pair_id")
		}
	}
	var wanted []string
	for id := range d.demanded {
		wanted = append(wanted, id)
	}
	sort.Strings(wanted)
	if !slices.Equal(wanted, present) {
		return refusal.Expecting("H12_PAIR_DECLARED_TWICE", "/predicate/rows",
			expectedCount(len(wanted))+" demanded pairs", expectedCount(len(present))+" rows")
	}
	return nil
}
