package smt

import (
	"fmt"
	"strings"
)

// coordinate is a coordinate of a subject: its term over digits, and those digits ([SMT-6]).
type coordinate struct {
	name, term string
	digits     []string
}

// coordinates gives those of a subject in their order ([SMT-6]).
func (c oneCase) coordinates(of string) []coordinate {
	plain := func(name string) coordinate { return coordinate{name, of + "." + name, []string{name}} }
	split := func(name string, factor int64, high, low string) coordinate {
		return coordinate{name, fmt.Sprintf("(+ (* %d %s.%s) %s.%s)", factor, of, high, of, low), []string{high, low}}
	}
	var found []coordinate
	if len(c.tensor.Components) > 1 {
		found = append(found, plain("k"))
	}
	if c.has("L") {
		found = append(found, plain("l"))
	}
	if c.layout.Block > 0 {
		found = append(found, split("t", c.layout.Block, "tb", "ti"))
	} else {
		found = append(found, plain("t"))
	}
	if c.layout.RankAxis == "sharded" {
		found = append(found, split("h", c.share(), "r", "s"))
	} else if c.has("H", "R") {
		found = append(found, plain("h"))
	}
	if c.layout.RankAxis == "replicated" {
		found = append(found, plain("c"))
	}
	if c.tensor.X > 0 {
		return append(found, split("d", c.tensor.X, "g", "x"))
	}
	return append(found, plain("d"))
}

// highest is the highest value of a coordinate or a digit of a subject ([SMT-6]).
func (c oneCase) highest(of, name string) string {
	dims := c.dims()
	below := func(n int64) string { return fmt.Sprint(n - 1) }
	switch name {
	case "k":
		return "1"
	case "l":
		return below(c.geometry.Layers)
	case "t":
		return "(- n 1)"
	case "h":
		return below(c.heads())
	case "c":
		return below(c.copies())
	case "ti":
		return below(c.layout.Block)
	case "r":
		return below(c.layout.Ranks)
	case "s":
		return below(c.share())
	case "g":
		return below(dims[0] / c.tensor.X)
	case "x":
		return below(c.tensor.X)
	}
	if len(dims) > 1 && dims[0] != dims[1] {
		return fmt.Sprintf("(ite (= %s.k 0) %d %d)", of, dims[0]-1, dims[1]-1)
	}
	return below(dims[0])
}

// along is an element's coordinate along an axis ([SMT-7]).
func (c oneCase) along(of, axis string) string {
	sharded, replicated := c.layout.RankAxis == "sharded", c.layout.RankAxis == "replicated"
	switch axis {
	case "C":
		return fmt.Sprintf("(+ (ite (= %s.k 0) 0 %d) %s.d)", of, c.dims()[0], of)
	case "T":
		return fmt.Sprintf("(+ %d %s.t)", c.tensor.Reserve, of)
	case "Tb":
		return fmt.Sprintf("(+ %d %s.tb)", c.tensor.Reserve, of)
	case "R":
		if replicated {
			return fmt.Sprintf("(+ (* %d %s.h) %s.c)", c.copies(), of, of)
		}
	case "H":
		if replicated {
			return "0"
		}
		if sharded {
			return of + ".s"
		}
	}
	return of + "." + map[string]string{
		"L": "l", "KV": "k", "Ti": "ti", "R": "r", "H": "h", "D": "d", "Dg": "g", "Dx": "x",
	}[axis]
}

// text is a query's text, or that of its guard where a wrong stride is planted ([SMT-9]).
func (c oneCase) text(kind string, wrong *planted) string {
	lines := []string{"(set-logic QF_LIA)"}
	add := func(more ...string) { lines = append(lines, more...) }
	along := func(name string) string { return c.along("a", name) }
	add(c.sizes(wrong != nil)...)
	add(c.element("a")...)
	add(c.offset("a", along, wrong))
	switch kind {
	case "in-bounds":
		add("(assert (not (<= 0 a.p (- N 1))))")
	case "injective":
		add(c.differences("b")...)
		add(c.element("b")...)
		for _, a := range c.axes {
			add(fmt.Sprintf("(assert (= b.%s %s))", a.name, c.along("b", a.name)))
		}
		add(c.offset("b", func(name string) string { return "b." + name }, wrong))
		add("(assert (= a.p b.p))", "(assert (not "+c.same("b")+"))")
	case "round-trip":
		add(c.reading()...)
		add("(assert (= a.p q.p))", "(assert (not "+c.same("q")+"))")
	case "padding":
		add(c.reading()...)
		add("(assert (<= 0 q.p (- N 1)))")
		var within []string
		for _, q := range c.coordinates("q") {
			within = append(within, fmt.Sprintf("(<= 0 %s %s)", q.term, c.highest("q", q.name)))
		}
		add(fmt.Sprintf("(assert (or (and q.e (not (and %s))) (and q.e %s (not (= a.p q.p))) "+
			"(and (not q.e) (= a.p q.p))))", strings.Join(within, " "), c.same("q")))
	}
	add("(check-sat)")
	return strings.Join(lines, "\n") + "\n"
}

// sizes binds n, m, g, e and N ([SMT-5]).
func (c oneCase) sizes(guard bool) []string {
	var lines []string
	unit, grown := c.layout.Block, "m"
	if unit == 0 {
		unit, grown = c.tensor.PadTokens, fmt.Sprintf("(* %d m)", c.tensor.PadTokens)
	}
	if unit == 0 {
		grown = "n"
		lines = append(lines, "(declare-const n Int)")
	} else {
		lines = append(lines, "(declare-const m Int)", "(declare-const g Int)",
			fmt.Sprintf("(assert (<= 0 g %d))", unit-1),
			fmt.Sprintf("(define-fun n () Int (- (* %d m) g))", unit))
	}
	bound, size := fmt.Sprintf("(= n %d)", c.geometry.Tokens), fmt.Sprint(c.size())
	if c.mode == "any" {
		bound = "(<= 1 n)"
		if guard {
			bound = fmt.Sprintf("(<= 1 n %d)", c.geometry.Tokens)
		}
		for _, a := range c.axes {
			if a.name == "T" || a.name == "Tb" {
				size = fmt.Sprintf("(* %d e)", a.stride)
			}
		}
	}
	return append(lines, "(assert "+bound+")",
		fmt.Sprintf("(define-fun e () Int (+ %d %s))", c.tensor.Reserve, grown),
		fmt.Sprintf("(define-fun N () Int %s)", size))
}

// element declares and bounds an element's digits ([SMT-7]).
func (c oneCase) element(of string) []string {
	var declared, bounds []string
	for _, one := range c.coordinates(of) {
		for _, digit := range one.digits {
			if digit == "tb" {
				declared = append(declared, "(declare-const "+of+".y Int)",
					"(define-fun "+of+".tb () Int (- m "+of+".y))")
				bounds = append(bounds, "(assert (<= 0 "+of+".tb))", "(assert (<= "+one.term+" (- n 1)))")
				continue
			}
			declared = append(declared, "(declare-const "+of+"."+digit+" Int)")
			bounds = append(bounds, fmt.Sprintf("(assert (<= 0 %s.%s %s))", of, digit, c.highest(of, digit)))
		}
	}
	return append(declared, bounds...)
}

// offset is the offset line of a subject ([SMT-7]).
func (c oneCase) offset(of string, along func(string) string, wrong *planted) string {
	var terms []string
	for _, a := range c.axes {
		stride := a.stride
		if wrong != nil && wrong.axis == a.name {
			stride = wrong.stride
		}
		terms = append(terms, fmt.Sprintf("(* %d %s)", stride, along(a.name)))
	}
	return "(define-fun " + of + ".p () Int (+ " + strings.Join(terms, " ") + "))"
}

// differences defines coordinates along the axes by those of `a` ([SMT-7]).
func (c oneCase) differences(of string) []string {
	var lines []string
	for _, a := range c.axes {
		lines = append(lines, "(declare-const z."+a.name+" Int)",
			fmt.Sprintf("(define-fun %s.%s () Int (+ %s z.%s))", of, a.name, c.along("a", a.name), a.name))
	}
	return lines
}

// reading is the offset `q` ([SMT-8]).
func (c oneCase) reading() []string {
	lines := c.differences("q")
	for _, a := range c.axes[1:] {
		highest := fmt.Sprint(a.extent - 1)
		if a.name == "T" || a.name == "Tb" {
			highest = "(- e 1)"
		}
		lines = append(lines, fmt.Sprintf("(assert (<= 0 q.%s %s))", a.name, highest))
	}
	lines = append(lines, c.offset("q", func(name string) string { return "q." + name }, nil))
	if c.layout.RankAxis == "replicated" {
		lines = append(lines, "(declare-const q.h Int)", "(declare-const q.c Int)",
			fmt.Sprintf("(assert (<= 0 q.c %d))", c.copies()-1),
			fmt.Sprintf("(assert (= q.R (+ (* %d q.h) q.c)))", c.copies()))
	}
	for _, a := range c.axes {
		for _, said := range c.says(a.name) {
			lines = append(lines, fmt.Sprintf("(define-fun q.%s () Int %s)", said[0], said[1]))
		}
	}
	conditions := []string{"(<= 0 q.t)"}
	if c.layout.Block > 0 {
		conditions[0] = "(<= 0 q.tb)"
	}
	for _, one := range c.coordinates("q") {
		if one.name == "t" {
			conditions = append(conditions, "(< "+one.term+" n)")
		}
	}
	if c.has("D") {
		conditions = append(conditions, fmt.Sprintf("(< q.d %d)", c.dims()[0]))
	}
	return append(lines, "(define-fun q.e () Bool (and "+strings.Join(conditions, " ")+"))")
}

// says gives the digits of an element that an axis of `q` tells, each with its term ([SMT-8]).
func (c oneCase) says(axis string) [][2]string {
	first := c.dims()[0]
	switch axis {
	case "C":
		return [][2]string{
			{"k", fmt.Sprintf("(ite (< q.C %d) 0 1)", first)},
			{"d", fmt.Sprintf("(- q.C (ite (< q.C %d) 0 %d))", first, first)},
		}
	case "T":
		return [][2]string{{"t", fmt.Sprintf("(- q.T %d)", c.tensor.Reserve)}}
	case "Tb":
		return [][2]string{{"tb", fmt.Sprintf("(- q.Tb %d)", c.tensor.Reserve)}}
	}
	if c.layout.RankAxis == "replicated" && (axis == "R" || axis == "H") {
		return nil
	}
	digit := strings.TrimPrefix(c.along("q", axis), "q.")
	return [][2]string{{digit, "q." + axis}}
}

// same says that `a` and another subject agree in every coordinate ([SMT-9]).
func (c oneCase) same(other string) string {
	var pairs []string
	theirs := c.coordinates(other)
	for i, one := range c.coordinates("a") {
		pairs = append(pairs, fmt.Sprintf("(= %s %s)", one.term, theirs[i].term))
	}
	return "(and " + strings.Join(pairs, " ") + ")"
}
