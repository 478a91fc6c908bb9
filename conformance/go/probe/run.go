package probe

import (
	"fmt"
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// Run is a run of probes ([PROBE-15] to [PROBE-18]) that follows from what it holds.
type Run struct {
	Arms     []*Arm
	Settings *Settings
	// Samples are in the order in which they were taken, detections left out.
	Samples []*Sample

	data       *Data
	tokens     bool
	blocks     int64
	entries    []*lcj.Object
	detections []*Sample
	// entry is that of each sample.
	entry map[*Sample]*lcj.Object
	// process is the largest number that a process has had, -1 before the first.
	process int64
}

// ReadRun is the order of derivation of `probes`. words is the number of words of certification.json.
func (d *Data) ReadRun(stated *lcj.Object, words int, pointer string) (*Run, *refusal.Refusal) {
	r := &Run{
		data: d, tokens: stated.Text("form") == "tokens", blocks: stated.Int("blocks"), process: -1,
		entries: stated.Objects("entries"), entry: map[*Sample]*lcj.Object{},
	}
	if !r.tokens {
		err := kind.DemandAll(stated, pointer, []kind.Member{
			{Name: "low", Code: badValue, Value: int64(0)}, {Name: "span", Code: badValue, Value: int64(words)},
		})
		if err != nil {
			return nil, err
		}
	}
	if err := r.checkEntries(pointer + "/entries"); err != nil {
		return nil, err
	}
	var err *refusal.Refusal
	if r.Arms, err = d.ReadArms(stated.Objects("arms"), pointer+"/arms"); err != nil {
		return nil, err
	}
	bodies := stated.Objects("bodies")
	if err := d.CheckBodies(bodies, pointer+"/bodies"); err != nil {
		return nil, err
	}
	reader := d.NewReader(bodies)
	if err := r.readDetections(reader, stated.Objects("detections"), pointer+"/detections"); err != nil {
		return nil, err
	}
	if err := r.readSamples(reader, stated, pointer+"/samples"); err != nil {
		return nil, err
	}
	if err := reader.CheckUsed(pointer + "/bodies"); err != nil {
		return nil, err
	}
	if r.Settings, err = reader.CheckSettings(stated.Objects("settings"), r.Arms, pointer+"/settings"); err != nil {
		return nil, err
	}
	return r, r.checkBudgets(stated.Objects("budgets"), pointer+"/budgets")
}

// checkEntries is the second half of step 1 ([PROBE-15]).
func (r *Run) checkEntries(pointer string) *refusal.Refusal {
	names := map[string]bool{}
	for i, entry := range r.entries {
		at, name, probe := refusal.Index(pointer, i), entry.Text("name"), r.data.Probes[entry.Text("probe")]
		if names[name] {
			return refusal.New(badValue, at+"/name")
		}
		names[name] = true
		if probe == nil {
			return refusal.New(badValue, at+"/probe")
		}
		requests := probe.Int("requests")
		for _, member := range []string{"prompts", "max_new"} {
			if int64(len(entry.List(member))) != requests {
				return refusal.New(badValue, at+"/"+member)
			}
		}
		if (entry.Int("behind") == 0) != (requests == 1) {
			return refusal.New(badValue, at+"/behind")
		}
	}
	return nil
}

// readDetections is the first half of step 3 ([PROBE-17]).
func (r *Run) readDetections(reader *Reader, stated []*lcj.Object, pointer string) *refusal.Refusal {
	arm, number := 0, 0
	for place, o := range stated {
		at := refusal.Index(pointer, place)
		for arm < len(r.Arms) && r.Arms[arm].Name != o.Text("arm") {
			arm, number = arm+1, 0
		}
		if arm == len(r.Arms) {
			return refusal.New(underived, at+"/arm")
		}
		own := r.Arms[arm]
		err := kind.DemandAll(o, at, []kind.Member{
			{Name: "name", Code: underived, Value: fmt.Sprintf("%s-budget-%d", own.Name, number)},
			{Name: "place", Code: underived, Value: int64(place)}, {Name: "block", Code: underived, Value: int64(0)},
			{Name: "warm_ups", Code: badValue, Value: int64(0)},
		})
		if err != nil {
			return err
		}
		if err := r.checkProcess(o, own, number == 0, at); err != nil {
			return err
		}
		s, err := reader.Read(o, own, []Wanted{{r.lengthOfDetection(o), 1}}, at)
		if err != nil {
			return err
		}
		r.detections = append(r.detections, s)
		number++
	}
	return nil
}

// lengthOfDetection is what a detection's `prompt_tokens` must be: with form `tokens` any number, since
// no entry plans it.
func (r *Run) lengthOfDetection(detection *lcj.Object) any {
	if !r.tokens {
		return nil
	}
	if requests := detection.Objects("requests"); len(requests) == 1 {
		if length, ok := requests[0].Member("prompt_tokens").(int64); ok {
			return length
		}
	}
	return int64(-1)
}

// checkProcess sees that a launched arm has one process until it is started anew, above all earlier
// ones, and that any other has none.
func (r *Run) checkProcess(stated *lcj.Object, arm *Arm, started bool, at string) *refusal.Refusal {
	process, told := stated.Member("process").(int64)
	switch {
	case told != arm.Launched, told && started && process <= r.process, told && !started && process != r.process:
		return refusal.New(badValue, at+"/process")
	case told:
		r.process = process
	}
	return nil
}

// readSamples is the second half of step 3 ([PROBE-16]).
func (r *Run) readSamples(reader *Reader, run *lcj.Object, pointer string) *refusal.Refusal {
	stated, seed := run.Objects("samples"), run.Int("seed")
	if int64(len(stated)) != r.blocks*int64(len(r.Arms))*int64(len(r.entries)) {
		return refusal.New(underived, pointer)
	}
	var names []string
	for _, arm := range r.Arms {
		names = append(names, arm.Name)
	}
	place, known := 0, map[string]bool{}
	for block := range r.blocks {
		for _, i := range Order(seed, block, names) {
			var own []string
			for _, entry := range r.entries {
				own = append(own, names[i]+"-"+entry.Text("name"))
			}
			for nth, k := range Order(seed, block, own) {
				o, at := stated[place], refusal.Index(pointer, place)
				err := kind.DemandAll(o, at, []kind.Member{
					{Name: "place", Code: underived, Value: int64(place)}, {Name: "block", Code: underived, Value: block},
					{Name: "arm", Code: underived, Value: names[i]},
					{Name: "name", Code: underived, Value: fmt.Sprintf("%s-%d", own[k], block)},
				})
				if err != nil {
					return err
				}
				if known[o.Text("name")] {
					return refusal.New(badValue, at+"/name")
				}
				known[o.Text("name")] = true
				if err := r.readSample(reader, o, r.Arms[i], r.entries[k], nth == 0, at); err != nil {
					return err
				}
				place++
			}
		}
	}
	return nil
}

func (r *Run) readSample(reader *Reader, o *lcj.Object, arm *Arm, entry *lcj.Object, started bool, at string) *refusal.Refusal {
	if o.Int("warm_ups") < 1 {
		return refusal.New(badValue, at+"/warm_ups")
	}
	if err := r.checkProcess(o, arm, started, at); err != nil {
		return err
	}
	var wanted []Wanted
	for i, units := range entry.Ints("prompts") {
		one := Wanted{MaxNew: entry.Ints("max_new")[i]}
		if r.tokens {
			one.PromptTokens = units
		}
		wanted = append(wanted, one)
	}
	s, err := reader.Read(o, arm, wanted, at)
	if err != nil {
		return err
	}
	if s.Refusal == "" && s.early(entry.Int("behind")) {
		return refusal.New(badValue, at+"/requests/1/start_us")
	}
	r.entry[s] = entry
	r.Samples = append(r.Samples, s)
	return nil
}

// early says whether a second request starts before the arrival that it waits for ([PROBE-16]).
func (s *Sample) early(behind int64) bool {
	if len(s.Requests) < 2 {
		return false
	}
	arrivals, after := s.Requests[0].Ints("arrivals_us"), s.Requests[0].Int("end_us")
	if behind <= int64(len(arrivals)) {
		after = arrivals[behind-1]
	}
	return s.Requests[1].Int("start_us") < after
}

// Entry is the name of a sample's entry.
func (r *Run) Entry(s *Sample) string {
	return r.entry[s].Text("name")
}

// Guarded is the number of samples with a metric for `prompt_tokens`.
func (r *Run) Guarded() int64 {
	n := int64(0)
	for _, s := range r.Samples {
		n += kind.Bit(s.Guarded(r.data, "prompt_tokens"))
	}
	return n
}

// prefills are an arm's samples that its budget follows from.
func (r *Run) prefills(arm *Arm) []*Sample {
	chosen := slices.Clone(r.detections)
	for _, s := range r.Samples {
		if r.entry[s].Text("probe") == "prefill" {
			chosen = append(chosen, s)
		}
	}
	return slices.DeleteFunc(chosen, func(s *Sample) bool { return s.Arm != arm || s.Refusal != "" })
}
