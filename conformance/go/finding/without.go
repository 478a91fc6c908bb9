package finding

import (
	"slices"

	"lockstep/conformance/go/lcj"
)

// draft is a case that may be changed.
type draft struct {
	stated   *lcj.Object
	requests []any
	steps    [][]*lcj.Object
}

// from gives a case without what the removal takes ([FIND-5]).
func (r removal) from(stated *lcj.Object) *lcj.Object {
	d := &draft{stated: with(stated, "version", stated.Member("version"))}
	d.requests = slices.Clone(stated.Object("workload").List("requests"))
	for _, actions := range stated.List("steps") {
		var own []*lcj.Object
		for _, action := range actions.([]any) {
			own = append(own, action.(*lcj.Object))
		}
		d.steps = append(d.steps, own)
	}
	switch r.dimension {
	case "requests":
		d.removeRequest(int(r.place[0]))
	case "steps":
		d.removeStep(int(r.place[0]))
	case "actions":
		d.removeAction(int(r.place[0]), int(r.place[1]))
	case "prompt_tokens":
		d.removePromptToken(int(r.place[0]), r.place[1])
	case "new_tokens":
		d.removeNewToken(int(r.place[0]))
	case "chunk_tokens":
		d.changeAction(r.place, func(a *lcj.Object) *lcj.Object { return with(a, "tokens", a.Int("tokens")-1) })
	case "named_blocks":
		d.changeAction(r.place, func(a *lcj.Object) *lcj.Object { return leaving(a, "blocks") })
	case "arrivals":
		d.changeRequest(int(r.place[0]), "arrival", d.request(int(r.place[0])).Int("arrival")-1)
	case "pool_blocks":
		d.shrink("blocks")
	case "block_size":
		d.shrink("block_size")
	}
	return d.document()
}

// with copies an object with one member set.
func with(object *lcj.Object, name string, value any) *lcj.Object {
	copied := lcj.NewObject()
	for _, held := range object.Names() {
		copied.Set(held, object.Member(held))
	}
	return copied.Set(name, value)
}

// leaving copies an object without one member.
func leaving(object *lcj.Object, name string) *lcj.Object {
	copied := lcj.NewObject()
	for _, held := range object.Names() {
		if held != name {
			copied.Set(held, object.Member(held))
		}
	}
	return copied
}

func (d *draft) document() *lcj.Object {
	steps := []any{}
	for _, own := range d.steps {
		actions := []any{}
		for _, action := range own {
			actions = append(actions, action)
		}
		steps = append(steps, actions)
	}
	workload := with(d.stated.Object("workload"), "requests", d.requests)
	return with(with(d.stated, "workload", workload), "steps", steps)
}

func (d *draft) request(number int) *lcj.Object { return d.requests[number].(*lcj.Object) }

func (d *draft) changeRequest(number int, name string, value any) {
	d.requests[number] = with(d.request(number), name, value)
}

func (d *draft) changeAction(place []int64, change func(*lcj.Object) *lcj.Object) {
	own := d.steps[place[0]]
	own[place[1]] = change(own[place[1]])
}

func (d *draft) shrink(name string) {
	pool := d.stated.Object("pool")
	d.stated = with(d.stated, "pool", with(pool, name, pool.Int(name)-1))
}

// keep leaves in the steps the actions for which a condition holds.
func (d *draft) keep(condition func(step, place int, action *lcj.Object) bool) {
	for i, own := range d.steps {
		var kept []*lcj.Object
		for j, action := range own {
			if condition(i, j, action) {
				kept = append(kept, action)
			}
		}
		d.steps[i] = kept
	}
}

func (d *draft) removeRequest(number int) {
	id := d.request(number).Text("id")
	d.requests = slices.Delete(d.requests, number, number+1)
	d.keep(func(_, _ int, action *lcj.Object) bool { return action.Text("request") != id })
}

func (d *draft) removeStep(step int) {
	if step < len(d.steps)-1 {
		d.steps[step+1] = slices.Concat(d.steps[step], d.steps[step+1])
	}
	d.steps = slices.Delete(d.steps, step, step+1)
	for i := range d.requests {
		if arrival := d.request(i).Int("arrival"); arrival > int64(step) {
			d.changeRequest(i, "arrival", arrival-1)
		}
	}
}

func (d *draft) removeAction(step, place int) {
	gone := d.steps[step][place]
	event, id := gone.Text("event"), gone.Text("request")
	taking := slices.Contains([]string{"admit", "resume", "preempt_rc"}, event)
	d.keep(func(i, j int, action *lcj.Object) bool {
		later := i > step || i == step && j > place
		if !later || action.Text("request") != id {
			return i != step || j != place
		}
		next := action.Text("event")
		if event == "preempt_rc" && (next == "decode" || next == "preempt_rc") {
			taking = false
		}
		return !taking
	})
}

// removePromptToken takes the token of a position from a prompt, and from each chunk that computes it.
func (d *draft) removePromptToken(number int, position int64) {
	request := d.request(number)
	prompt := slices.Clone(request.List("prompt"))
	d.changeRequest(number, "prompt", slices.Delete(prompt, int(position), int(position)+1))
	id, size, computed := request.Text("id"), d.stated.Object("pool").Int("block_size"), int64(0)
	for i := range d.steps {
		var kept []*lcj.Object
		for _, action := range d.steps[i] {
			if action.Text("request") == id {
				var until int64
				if until = reach(action, computed, size); action.Text("event") == "chunk" &&
					computed <= position && position < until {
					action = with(action, "tokens", action.Int("tokens")-1)
				}
				computed = until
			}
			if action.Text("event") != "chunk" || action.Int("tokens") > 0 {
				kept = append(kept, action)
			}
		}
		d.steps[i] = kept
	}
}

// reach is a request's position after an action, read off the schedule.
func reach(action *lcj.Object, computed, size int64) int64 {
	switch action.Text("event") {
	case "admit", "resume":
		return 0
	case "cache_hit":
		if action.Member("blocks") == nil {
			return 0
		}
		return int64(len(action.List("blocks"))) * size
	case "chunk":
		return computed + action.Int("tokens")
	}
	return computed
}

// removeNewToken lets a request emit a token less, and where it decodes more often than that, its
// last decode goes.
func (d *draft) removeNewToken(number int) {
	id, most := d.request(number).Text("id"), d.request(number).Int("max_new")-1
	d.changeRequest(number, "max_new", most)
	decodes := int64(0)
	isDecode := func(action *lcj.Object) bool {
		return action.Text("event") == "decode" && action.Text("request") == id
	}
	d.keep(func(_, _ int, action *lcj.Object) bool {
		if isDecode(action) {
			decodes++
		}
		return true
	})
	if decodes <= most {
		return
	}
	seen := int64(0)
	d.keep(func(_, _ int, action *lcj.Object) bool {
		if isDecode(action) {
			seen++
			return seen < decodes
		}
		return true
	})
}
