package experiments

import (
	"slices"
	"strings"

	"lockstep/conformance/go/distance"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/rate"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/sampling"
)

// attempts is the measure that counts seeds ([EXP-9]).
const attempts = "attempts"

// repetition is the experiment that draws nothing ([EXP-6]).
const repetition = 6

// observed is what the series and distances of a certificate come to.
type observed struct {
	*Kind
	rates *rate.Rates
	// differing says of each role that was compared whether a position of it differs.
	differing map[role]bool
	values    map[measured][]int64
	counts    map[string]int64
}

func newObserved(k *Kind) *observed {
	o := &observed{k, rate.New(k.confidence), map[role]bool{}, map[measured][]int64{}, map[string]int64{}}
	for _, name := range countNames {
		o.counts[name] = 0
	}
	return o
}

// readSeries is step 2.
func (o *observed) readSeries(stated []*lcj.Object) *refusal.Refusal {
	type entry struct {
		role
		of, parameters string
	}
	known := map[entry]bool{}
	for i, one := range stated {
		at := refusal.Index(atSeries, i)
		of := role{one.Int("experiment"), one.Text("role")}
		if _, wanted := o.differs[of]; !wanted {
			return refusal.New(badValue, at+"/role")
		}
		parameters, drawn := one.Member("parameters").(*lcj.Object)
		if drawn == (of.experiment == repetition) || drawn && !resolved(parameters) {
			return refusal.New(badValue, at+"/parameters")
		}
		this := entry{of, one.Text("of"), string(lcj.Encode(one.Member("parameters")))}
		if known[this] {
			return refusal.New(badValue, at+"/of")
		}
		known[this] = true
		positions := one.Int("positions")
		count, ok := ones(one.Text("differing"), positions)
		if !ok {
			return refusal.New(badValue, at+"/differing")
		}
		low, high := o.rates.Bounds(count, positions)
		err := kind.DemandAll(one, at, []kind.Member{
			{Name: "count", Code: recount, Value: count},
			{Name: "low_ppm", Code: recount, Value: low}, {Name: "high_ppm", Code: recount, Value: high},
		})
		if err != nil {
			return err
		}
		o.count(of, positions, count)
	}
	return nil
}

// count adds a series to what was observed.
func (o *observed) count(of role, positions, differing int64) {
	o.differing[of] = o.differing[of] || differing > 0
	o.counts["series"]++
	o.counts["positions"] += positions
	o.counts["differing"] += differing
	if of.name == "replay" {
		o.counts["replay_positions"] += positions
		o.counts["replay_differing"] += differing
	}
}

// resolved says whether parameters are as a series that draws has them ([EXP-10]).
func resolved(p *lcj.Object) bool {
	topK, topP, minP := lcj.Optional[int64](p, "top_k"), lcj.Optional[string](p, "top_p"), lcj.Optional[string](p, "min_p")
	read, ok := sampling.Resolve(p.Text("temperature"), topK, topP, minP)
	return ok && !read.Greedy() && (topK == nil) == (read.TopK == 0) &&
		(topP == nil) == (read.TopP == nil) && (minP == nil) == (read.MinP == nil)
}

// ones counts the bits of a series ([EXP-10]); it gives false for another length, or a bit past the end.
func ones(digits string, positions int64) (int64, bool) {
	if int64(len(digits)) != (positions+3)/4 {
		return 0, false
	}
	count := int64(0)
	for i := range int64(len(digits)) * 4 {
		digit := strings.IndexByte("0123456789abcdef", digits[i/4])
		if digit>>(3-i%4)&1 == 0 {
			continue
		}
		if i >= positions {
			return 0, false
		}
		count++
	}
	return count, true
}

// readDistances is step 3.
func (o *observed) readDistances(stated []*lcj.Object) *refusal.Refusal {
	type entry struct {
		measured
		of string
	}
	known := map[entry]bool{}
	for i, one := range stated {
		at := refusal.Index(atDistances, i)
		of := measured{role{one.Int("experiment"), one.Text("role")}, one.Text("measure")}
		if !o.sides[of] {
			return refusal.New(badValue, at+"/role")
		}
		this := entry{of, one.Text("of")}
		if known[this] {
			return refusal.New(badValue, at+"/of")
		}
		known[this] = true
		values := one.Ints("values")
		for n, value := range values {
			if of.measure == attempts && (value < 1 || value > o.attemptsMost) {
				return refusal.New(badValue, refusal.Index(at+"/values", n))
			}
		}
		o.values[of] = append(o.values[of], values...)
		found := lcj.Array(quantiles(values, o.quantiles))
		if err := kind.Demand(one, at, "quantiles", recount, found); err != nil {
			return err
		}
		o.counts["distances"]++
		o.counts["values"] += int64(len(values))
	}
	return nil
}

// quantiles are those of [DIST-6], of numbers in any order.
func quantiles(values, permilles []int64) []int64 {
	ascending := slices.Sorted(slices.Values(values))
	var found []int64
	for _, permille := range permilles {
		found = append(found, distance.Quantile(ascending, permille))
	}
	return found
}

// checkExperiments is step 4.
func (o *observed) checkExperiments(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/experiments"
	if !slices.EqualFunc(stated, o.questions, func(one *lcj.Object, of question) bool {
		return one.Int("experiment") == of.number && one.Text("name") == of.name
	}) {
		return refusal.New(badValue, pointer)
	}
	for i, of := range o.questions {
		outcome := o.outcome(of.number)
		if err := kind.Demand(stated[i], refusal.Index(pointer, i), "outcome", notDerived, outcome); err != nil {
			return err
		}
		o.counts["experiments"]++
		o.counts[outcome]++
	}
	return nil
}

// outcome is [EXP-12].
func (o *observed) outcome(experiment int64) string {
	shown := true
	for of, wanted := range o.differs {
		if of.experiment != experiment {
			continue
		}
		differing, compared := o.differing[of]
		if !compared {
			return "not_run"
		}
		shown = shown && differing == wanted
	}
	for _, one := range o.orders {
		if one.left.experiment != experiment {
			continue
		}
		if len(o.values[one.left]) == 0 || len(o.values[one.right]) == 0 {
			return "not_run"
		}
		shown = shown && o.holds(one)
	}
	if shown {
		return "shown"
	}
	return "not_shown"
}

// holds says whether an order does.
func (o *observed) holds(one order) bool {
	quantile := func(of measured, permille int64) int64 {
		return quantiles(o.values[of], []int64{permille})[0]
	}
	if one.relation == "below" {
		return quantile(one.left, 500) < quantile(one.right, 500)
	}
	apart := quantile(one.left, 950) < quantile(one.right, 50)
	return apart == (one.relation == "apart")
}

// verdict is [EXP-14].
func (o *observed) verdict() string {
	switch {
	case o.counts["replay_differing"] > 0:
		return "diverged"
	case o.counts["shown"] == o.counts["experiments"]:
		return "shown"
	}
	return "partly_shown"
}
