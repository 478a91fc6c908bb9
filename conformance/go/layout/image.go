package layout

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// ImageSha256 is [LAY-18]; limit is `hunt.json#/limits/image_elements`.
func (r *Realised) ImageSha256(limit int64) string {
	total := r.elements()
	sum := sha256.New()
	var buffer []byte
	emit := func(from, to int64) {
		r.Walk(from, to, func(p *Placement, position int64) {
			for replica := range p.Replicas {
				buffer = binary.LittleEndian.AppendUint64(buffer,
					uint64(position+replica*p.ReplicaStride))
			}
			if len(buffer) > 1<<16 {
				sum.Write(buffer)
				buffer = buffer[:0]
			}
		})
	}
	if n := limit / r.Replicas; total <= n {
		emit(0, total)
	} else {
		emit(0, n/2)
		emit(total-n/2, total)
	}
	sum.Write(buffer)
	return hex.EncodeToString(sum.Sum(nil))
}

func (r *Realised) elements() int64 {
	total := int64(0)
	for _, placement := range r.Placements {
		total += placement.Elements()
	}
	return total
}

// Walk visits the canonical elements from one index to another, the latter left out, with the
// first slot of each element's first replica.
func (r *Realised) Walk(from, to int64, visit func(p *Placement, position int64)) {
	start := int64(0)
	for i := range r.Placements {
		p := &r.Placements[i]
		end := start + p.Elements()
		for index := max(from, start); index < min(to, end); index++ {
			within := index - start
			d := within % p.Dims
			h := within / p.Dims % p.Heads
			t := within / p.Dims / p.Heads
			visit(p, p.Base+p.T.At(t)+p.H.At(h)+p.D.At(d))
		}
		start = end
	}
}

// Image is equal for two layouts exactly when they have one image ([LAY-17]): it gives their
// positions and their index maps in a normal form.
func (r *Realised) Image() string {
	image := fmt.Sprint(r.Positions)
	for _, p := range r.Placements {
		stride := p.ReplicaStride
		if p.Replicas == 1 {
			stride = 0
		}
		image += fmt.Sprintln(p.Component, p.Tokens, p.Heads, p.Dims, p.Base, p.T.normal(p.Tokens),
			p.H.normal(p.Heads), p.D.normal(p.Dims), p.Width, p.Replicas, stride)
	}
	return image
}
