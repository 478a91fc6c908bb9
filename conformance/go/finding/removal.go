package finding

import "lockstep/conformance/go/lcj"

// removal is a single removal ([FIND-4]).
type removal struct {
	dimension string
	place     []int64
}

// enumerate lists the single removals of a case in its free dimensions ([FIND-4]).
func enumerate(stated *lcj.Object, free []string) []removal {
	var found []removal
	requests := stated.Object("workload").Objects("requests")
	steps := stated.List("steps")
	for _, dimension := range free {
		add := func(place ...int64) { found = append(found, removal{dimension, place}) }
		switch dimension {
		case "requests", "prompt_tokens", "new_tokens", "arrivals":
			for i, request := range requests {
				ofRequest(dimension, request, len(requests), int64(i), add)
			}
		case "steps":
			for i := range steps {
				if i < len(steps)-1 || len(steps[i].([]any)) == 0 {
					add(int64(i))
				}
			}
		case "actions", "chunk_tokens", "named_blocks":
			for i, actions := range steps {
				for j, action := range actions.([]any) {
					if has(dimension, action.(*lcj.Object)) {
						add(int64(i), int64(j))
					}
				}
			}
		case "pool_blocks":
			if stated.Object("pool").Int("blocks") >= 2 {
				add()
			}
		case "block_size":
			if stated.Object("pool").Int("block_size") >= 2 {
				add()
			}
		}
	}
	return found
}

// ofRequest lists a request's removals in a dimension of requests.
func ofRequest(dimension string, request *lcj.Object, requests int, number int64, add func(...int64)) {
	switch prompt := len(request.List("prompt")); dimension {
	case "requests":
		if requests >= 2 {
			add(number)
		}
	case "prompt_tokens":
		for position := range prompt {
			if prompt >= 2 {
				add(number, int64(position))
			}
		}
	case "new_tokens":
		if request.Int("max_new") >= 2 {
			add(number)
		}
	case "arrivals":
		if request.Int("arrival") >= 1 {
			add(number)
		}
	}
}

// has says whether an action has a removal in a dimension of actions.
func has(dimension string, action *lcj.Object) bool {
	switch dimension {
	case "chunk_tokens":
		return action.Text("event") == "chunk" && action.Int("tokens") >= 2
	case "named_blocks":
		return action.Member("blocks") != nil
	}
	return true
}
