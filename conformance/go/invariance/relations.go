package invariance

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/specification"
)

// relationsFile is the data's path in the specification.
const relationsFile = "relations.json"

// declared is a relation of relations.json ([REL-1]).
type declared struct {
	name, claim string
	executes    bool
	blockSizes  []int64
	// mechanism are the counters that must not be zero ([REL-3]).
	mechanism  []string
	conditions []condition
	// backend is the only one that it runs on, or empty ([INV-13]).
	backend string
	// exempt has the settings under which it does not apply, or is nil ([INV-12]).
	exempt *lcj.Object
}

// condition is one of [REL-9].
type condition struct {
	left, right map[string]int64
	is, where   string
}

// combination is a relation at a block size ([INV-4]).
type combination struct {
	relation  *declared
	blockSize int64
}

// relations is relations.json.
type relations struct {
	// counters are those of every relation that executes.
	counters []string
	// listed are the terms of conditions that are the file's own ([REL-9]).
	listed     map[string]int64
	events     []*lcj.Object
	conditions []condition
	claims     []string
	relations  []*declared
	controls   []*lcj.Object
}

func readRelations(spec *specification.Specification) (*relations, error) {
	data, err := spec.Object(relationsFile)
	if err != nil {
		return nil, err
	}
	r := &relations{
		counters: data.Texts("counters"), listed: readListed(data), events: data.Objects("events"),
		conditions: readConditions(data), controls: data.Objects("controls"),
	}
	for _, claim := range data.Objects("claims") {
		r.claims = append(r.claims, claim.Text("name"))
	}
	for _, entry := range data.Objects("relations") {
		one := &declared{
			name: entry.Text("name"), claim: entry.Text("claim"), executes: entry.Bool("executes"),
			blockSizes: entry.Ints("block_sizes"), mechanism: entry.Texts("counters"),
			conditions: readConditions(entry),
		}
		one.backend, _ = entry.Member("backend").(string)
		one.exempt, _ = entry.Member("does_not_apply").(*lcj.Object)
		r.relations = append(r.relations, one)
	}
	return r, nil
}

func readListed(data *lcj.Object) map[string]int64 {
	listed := map[string]int64{
		"one":                1,
		"listed_kernels":     int64(len(data.List("kernels"))),
		"listed_batch_sizes": int64(len(data.List("batch_sizes"))),
	}
	for _, size := range data.Ints("batch_sizes") {
		listed["listed_batch_requests"] += size
	}
	return listed
}

func readConditions(holder *lcj.Object) []condition {
	var conditions []condition
	for _, entry := range holder.Objects("conditions") {
		conditions = append(conditions, condition{
			weights(entry.Object("left")), weights(entry.Object("right")),
			entry.Text("is"), entry.Text("where"),
		})
	}
	return conditions
}

func weights(terms *lcj.Object) map[string]int64 {
	found := map[string]int64{}
	for _, name := range terms.Names() {
		found[name] = terms.Int(name)
	}
	return found
}

// combinations gives those of all relations, in order ([INV-4]).
func (r *relations) combinations() []combination {
	var found []combination
	for _, one := range r.relations {
		for _, size := range one.blockSizes {
			found = append(found, combination{one, size})
		}
	}
	return found
}

// find gives the relation of a name.
func (r *relations) find(name string) *declared {
	at := slices.IndexFunc(r.relations, func(one *declared) bool { return one.name == name })
	return r.relations[at]
}

// may says whether a record of the relation can have a counter ([REL-9]).
func (r *relations) may(one *declared, counter string) bool {
	return slices.Contains(one.mechanism, counter) ||
		one.executes && slices.Contains(r.counters, counter)
}

// applies is [INV-12] for settings in force, by name.
func (one *declared) applies(resolved map[string]string) bool {
	if one.exempt == nil {
		return true
	}
	differs := func(member string, equal bool) bool {
		return slices.ContainsFunc(one.exempt.Objects(member), func(setting *lcj.Object) bool {
			value, has := resolved[setting.Text("name")]
			return !has || (value == setting.Text("value")) != equal
		})
	}
	return differs("settings", true) || differs("but", false)
}

// holds says whether a condition does, for the values of its terms.
func (c condition) holds(value func(name string) *big.Int) bool {
	left, right := total(c.left, value), total(c.right, value)
	switch c.is {
	case "equal":
		return left.Cmp(right) == 0
	case "at_least":
		return left.Cmp(right) >= 0
	case "positive_with":
		return right.Sign() <= 0 || left.Sign() > 0
	}
	panic("relations.json has a condition that is " + c.is)
}

func total(terms map[string]int64, value func(name string) *big.Int) *big.Int {
	sum := new(big.Int)
	for name, weight := range terms {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(weight), value(name)))
	}
	return sum
}
