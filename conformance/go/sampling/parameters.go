package sampling

// Parameters are resolved ones ([SAMP-12]); what is off is 0 or nil.
type Parameters struct {
	Temperature Magnitude
	TopK        int64
	TopP, MinP  *Magnitude
}

// greedyBelow is the temperature under which a request is greedy.
var greedyBelow = Magnitude{small: 1, q: -5}

// Resolve reads the parameters of a request: temperature, then top_k, top_p and min_p, each nil where
// it is null. It gives false for what [SAMP-11] does not admit.
func Resolve(temperature string, topK *int64, topP, minP *string) (Parameters, bool) {
	read := Parameters{}
	var ok bool
	if read.Temperature, ok = parseParameter(temperature); !ok {
		return read, false
	}
	if topK != nil {
		if *topK < -1 || *topK >= 1<<31 {
			return read, false
		}
		read.TopK = max(0, *topK)
	}
	if topP != nil {
		value, ok := parseParameter(*topP)
		if !ok || value.zero() {
			return read, false
		}
		if value.compare(unity) < 0 {
			read.TopP = &value
		}
	}
	if minP != nil {
		value, ok := parseParameter(*minP)
		if !ok || value.compare(unity) > 0 {
			return read, false
		}
		if !value.zero() {
			read.MinP = &value
		}
	}
	return read, true
}

// unity is 1.
var unity = Magnitude{small: 1}

// Greedy says whether there is no draw ([SAMP-12]).
func (p Parameters) Greedy() bool {
	return p.Temperature.compare(greedyBelow) < 0
}

// compare compares two numbers as they are written.
func (m Magnitude) compare(n Magnitude) int {
	x, y, _ := align(m.coefficient(), m.q, n.coefficient(), n.q)
	return x.Cmp(y)
}
