package measurement

import "math/big"

// point is what a record tells of a law: its regressors, one or two, and its value.
type point struct {
	x []*big.Rat
	y *big.Rat
}

// solution is that of ordinary least squares with a constant term ([MEAS-8]).
type solution struct {
	determinant *big.Rat
	condition   *big.Int
	// coefficients begin with the constant term.
	coefficients []*big.Rat
}

// moments are sums over points.
type moments struct {
	points []point
}

func (m moments) sum(of func(point) *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, p := range m.points {
		sum.Add(sum, of(p))
	}
	return sum
}

// joint is n·Σab − Σa·Σb.
func (m moments) joint(a, b func(point) *big.Rat) *big.Rat {
	product := m.sum(func(p point) *big.Rat { return new(big.Rat).Mul(a(p), b(p)) })
	product.Mul(product, integer(int64(len(m.points))))
	sums := m.sum(a)
	return product.Sub(product, sums.Mul(sums, m.sum(b)))
}

// solve gives nil where a regressor follows from the others.
func solve(points []point) *solution {
	m := moments{points}
	x := func(i int) func(point) *big.Rat { return func(p point) *big.Rat { return p.x[i] } }
	y := func(p point) *big.Rat { return p.y }
	first, firstY := m.joint(x(0), x(0)), m.joint(x(0), y)
	s := &solution{determinant: first, condition: big.NewInt(1000)}
	var slopes []*big.Rat
	if len(points[0].x) == 1 {
		if first.Sign() == 0 {
			return nil
		}
		slopes = append(slopes, new(big.Rat).Quo(firstY, first))
	} else {
		cross, second, secondY := m.joint(x(0), x(1)), m.joint(x(1), x(1)), m.joint(x(1), y)
		s.determinant = minor(first, cross, cross, second)
		if s.determinant.Sign() == 0 {
			return nil
		}
		s.condition = condition(new(big.Rat).Mul(cross, cross), new(big.Rat).Mul(first, second))
		a, b := minor(firstY, cross, secondY, second), minor(first, firstY, cross, secondY)
		slopes = append(slopes, a.Quo(a, s.determinant), b.Quo(b, s.determinant))
	}
	constant := m.sum(y)
	for i, slope := range slopes {
		constant.Sub(constant, new(big.Rat).Mul(slope, m.sum(x(i))))
	}
	constant.Quo(constant, integer(int64(len(points))))
	s.coefficients = append([]*big.Rat{constant}, slopes...)
	return s
}

// minor is ad − bc.
func minor(a, b, c, d *big.Rat) *big.Rat {
	product := new(big.Rat).Mul(a, d)
	return product.Sub(product, new(big.Rat).Mul(b, c))
}

// condition is ⌊1000 (1 + r) / (1 − r)⌋ for r = √(square / whole). With both made integers it is
// 1000 · (whole + square + 2·√(whole · square)) / (whole − square), whose root may be rounded down.
func condition(square, whole *big.Rat) *big.Int {
	d := new(big.Int).Mul(whole.Num(), square.Denom())
	n := new(big.Int).Mul(square.Num(), whole.Denom())
	root := new(big.Int).Mul(d, n)
	root.Sqrt(root.Mul(root, big.NewInt(4_000_000)))
	up := new(big.Int).Add(d, n)
	up.Add(up.Mul(up, big.NewInt(1000)), root)
	return up.Quo(up, d.Sub(d, n))
}

// residuals gives the largest magnitude of one, and the mean of their squares.
func residuals(points []point, coefficients []*big.Rat) (largest, square *big.Rat) {
	largest, square = new(big.Rat), new(big.Rat)
	for _, p := range points {
		rest := new(big.Rat).Sub(p.y, coefficients[0])
		for i, x := range p.x {
			rest.Sub(rest, new(big.Rat).Mul(coefficients[i+1], x))
		}
		if rest.Abs(rest).Cmp(largest) > 0 {
			largest.Set(rest)
		}
		square.Add(square, rest.Mul(rest, rest))
	}
	return largest, square.Quo(square, integer(int64(len(points))))
}
