package layout

import "fmt"

// EnumerationLimit is the number of positions up to which Enumerate works: one bit a position, so
// 1 GiB of memory.
const EnumerationLimit = 1 << 33

// Enumerate walks over every slot of every element of one layer and checks what [LAY-15] says of
// the index map: all within bounds, no two at one slot, and as many as [LAY-14] counts. It gives
// the number of slots that elements cover.
func (r *Realised) Enumerate() (int64, error) {
	if r.Positions > EnumerationLimit {
		return 0, fmt.Errorf("%d positions are more than the %d that can be enumerated", r.Positions, int64(EnumerationLimit))
	}
	taken := make([]uint64, (r.Positions+63)/64)
	covered := int64(0)
	for _, p := range r.Placements {
		dims := make([]int64, p.Dims)
		for d := range dims {
			dims[d] = p.D.At(int64(d))
		}
		for replica := range p.Replicas {
			for t := range p.Tokens {
				for h := range p.Heads {
					row := p.Base + replica*p.ReplicaStride + p.T.At(t) + p.H.At(h)
					if !mark(taken, r.Positions, row, dims, p.Width) {
						return covered, fmt.Errorf("token %d, head %d: out of bounds or taken", t, h)
					}
					covered += p.Dims * p.Width
				}
			}
		}
	}
	if covered != r.Positions-r.Padding {
		return covered, fmt.Errorf("%d slots covered, %d derived", covered, r.Positions-r.Padding)
	}
	return covered, nil
}

// mark takes the slots of the elements of one row and says whether all were within bounds and
// free.
func mark(taken []uint64, positions, row int64, dims []int64, width int64) bool {
	for _, offset := range dims {
		for slot := row + offset; slot < row+offset+width; slot++ {
			if uint64(slot) >= uint64(positions) {
				return false
			}
			word, bit := slot>>6, uint64(1)<<(slot&63)
			if taken[word]&bit != 0 {
				return false
			}
			taken[word] |= bit
		}
	}
	return true
}
