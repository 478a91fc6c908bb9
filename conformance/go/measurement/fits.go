package measurement

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const notIdentified = "FIT_NOT_IDENTIFIED"

// law is one of `laws` ([MEAS-8]).
type law struct {
	needs, regressors            []string
	most                         int
	value, identifiedBy          string
	coefficients, ofCoefficients []string
}

func readLaw(o *lcj.Object) *law {
	l := &law{
		needs: o.Texts("needs"), regressors: o.Texts("regressors"), most: int(o.Int("most")),
		value: o.Text("value"), identifiedBy: o.Text("identified_by"),
	}
	for _, one := range o.List("coefficients") {
		pair := one.([]any)
		l.coefficients = append(l.coefficients, pair[0].(string))
		l.ofCoefficients = append(l.ofCoefficients, pair[1].(string))
	}
	return l
}

// fit is one that was identified.
type fit struct {
	law     *law
	profile string
	// coefficients are by name.
	coefficients map[string]*big.Rat
	// grounds are the values that it rests on.
	grounds *big.Int
}

// checkFits is step 3.
func (d *derivation) checkFits() *refusal.Refusal {
	const pointer = "/predicate/fits"
	stated := d.predicate.Objects("fits")
	if err := distinct(stated, pointer, "name"); err != nil {
		return err
	}
	for i, o := range stated {
		at := refusal.Index(pointer, i)
		found := &fit{law: d.laws[o.Text("law")], coefficients: map[string]*big.Rat{}}
		population, err := d.population(found.law, o, at)
		if err != nil {
			return err
		}
		if err := found.checkIdentified(population, o, at); err != nil {
			return err
		}
		found.grounds = d.grounds(population, found.law.needs)
		if err := found.checkSolution(population, o, at); err != nil {
			return err
		}
		d.fits[o.Text("name")] = found
	}
	return nil
}

// population gives the records that a fit is made over.
func (d *derivation) population(l *law, o *lcj.Object, at string) ([]*record, *refusal.Refusal) {
	chosen := map[string]bool{}
	for i, name := range o.Texts("arms") {
		if d.arms[name] == nil || chosen[name] {
			return nil, refusal.New(badValue, refusal.Index(at+"/arms", i))
		}
		chosen[name] = true
	}
	var population []*record
	for _, r := range d.records {
		lacks := func(name string) bool { _, read := r.values[name]; return !read }
		if chosen[r.arm.id] && !r.refused && !slices.ContainsFunc(l.needs, lacks) {
			population = append(population, r)
		}
	}
	leftOut := o.Objects("left_out")
	if err := distinct(leftOut, at+"/left_out", "record"); err != nil {
		return nil, err
	}
	for i, one := range leftOut {
		place := slices.IndexFunc(population, func(r *record) bool { return r.id == one.Text("record") })
		if place < 0 {
			return nil, refusal.New(badValue, refusal.Index(at+"/left_out", i)+"/record")
		}
		population = slices.Delete(population, place, place+1)
	}
	if n := int64(len(population)); o.Int("population") != n {
		return nil, refusal.New(underived, at+"/population")
	}
	if len(population) > l.most {
		return nil, refusal.New("LIMIT_SIZE", at+"/population")
	}
	return population, nil
}

// checkIdentified sees that the population can identify the law, but for dependent regressors.
func (f *fit) checkIdentified(population []*record, o *lcj.Object, at string) *refusal.Refusal {
	budgets, lengths := map[int64]bool{}, map[int64]bool{}
	unknown := false
	for i, r := range population {
		if i > 0 && r.arm.profile != f.profile {
			return refusal.New(otherProfile, at+"/arms")
		}
		f.profile = r.arm.profile
		lengths[r.values["tokens"]] = true
		if r.arm.budget == nil {
			unknown = true
		} else {
			budgets[*r.arm.budget] = true
		}
	}
	if len(population) < len(f.law.coefficients)+1 ||
		f.law.identifiedBy == "budgets" && (unknown || len(budgets) < 2) ||
		f.law.identifiedBy == "lengths" && len(lengths) < 3 {
		return refusal.New(notIdentified, at)
	}
	return kind.Demand(o, at, "profile", notDerived, f.profile)
}

// checkSolution solves, and compares what is told of the solution.
func (f *fit) checkSolution(population []*record, o *lcj.Object, at string) *refusal.Refusal {
	var points []point
	for _, r := range population {
		p := point{y: r.variable(f.law.value)}
		for _, name := range f.law.regressors {
			p.x = append(p.x, r.variable(name))
		}
		points = append(points, p)
	}
	solved := solve(points)
	if solved == nil {
		return refusal.New(notIdentified, at)
	}
	err := kind.DemandAll(o, at, []kind.Member{
		{Name: "rank", Code: notRate, Value: int64(len(f.law.regressors) + 1)},
		{Name: "determinant", Code: notRate, Value: written(solved.determinant)},
		{Name: "condition_permille", Code: notRate, Value: solved.condition.String()},
		{Name: "ranges", Code: notRate, Value: f.ranges(points)},
	})
	if err != nil {
		return err
	}
	if err := f.checkCoefficients(solved, o.Objects("coefficients"), at+"/coefficients"); err != nil {
		return err
	}
	largest, square := residuals(points, solved.coefficients)
	return kind.DemandAll(o, at, []kind.Member{
		{Name: "largest_residual", Code: notRate, Value: written(largest)},
		{Name: "mean_square_residual", Code: notRate, Value: written(square)},
	})
}

// ranges are those of the regressors.
func (f *fit) ranges(points []point) []any {
	made := []any{}
	for i, name := range f.law.regressors {
		least, greatest := points[0].x[i], points[0].x[i]
		for _, p := range points {
			if p.x[i].Cmp(least) < 0 {
				least = p.x[i]
			}
			if p.x[i].Cmp(greatest) > 0 {
				greatest = p.x[i]
			}
		}
		made = append(made, lcj.NewObject().Set("regressor", name).
			Set("least", written(least)).Set("greatest", written(greatest)))
	}
	return made
}

func (f *fit) checkCoefficients(solved *solution, stated []*lcj.Object, at string) *refusal.Refusal {
	for i, name := range f.law.coefficients {
		follows := lcj.NewObject().Set("name", name).Set("unit", f.law.ofCoefficients[i]).
			Set("value", written(solved.coefficients[i]))
		if i >= len(stated) || !lcj.Equal(stated[i], follows) {
			return refusal.New(notRate, refusal.Index(at, i))
		}
		f.coefficients[name] = solved.coefficients[i]
	}
	if len(stated) > len(f.law.coefficients) {
		return refusal.New(notRate, at)
	}
	return nil
}

// variable is a regressor or the value of a law, as measurement.json writes it.
func (r *record) variable(name string) *big.Rat {
	value := func(name string) *big.Rat { return integer(r.values[name]) }
	switch name {
	case "tokens^2":
		return new(big.Rat).Mul(value("tokens"), value("tokens"))
	case "wall_us/(tokens_after-tokens_before)":
		between := new(big.Rat).Sub(value("tokens_after"), value("tokens_before"))
		return between.Quo(value("wall_us"), between)
	case "(tokens_before+tokens_after)/2":
		sum := new(big.Rat).Add(value("tokens_before"), value("tokens_after"))
		return sum.Quo(sum, integer(2))
	case "budget_tokens":
		return integer(*r.arm.budget)
	}
	return value(name)
}
