package fidelity

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/specification"
)

// prompt is a prompt of the corpus ([FID-1], [FID-2]).
type prompt struct {
	id        string
	tokens    int64
	positions []int64
}

func readCorpus(data *lcj.Object) []prompt {
	var corpus []prompt
	for _, entry := range data.Objects("corpus") {
		p := prompt{id: entry.Text("id"), tokens: entry.Int("tokens")}
		for _, element := range entry.List("positions") {
			span := element.([]any)
			for position := span[0].(int64); position <= span[1].(int64); position++ {
				p.positions = append(p.positions, position)
			}
		}
		corpus = append(corpus, p)
	}
	return corpus
}

// digest is the hex SHA-256 of the prompt's tokens for a size of vocabulary ([FID-1]).
func (p prompt) digest(vocabulary int64) string {
	var stream, tokens []byte
	for counter := 0; int64(len(stream)) < 4*p.tokens; counter++ {
		sum := sha256.Sum256([]byte(fmt.Sprintf("lockstep/corpus/1/%s/%d", p.id, counter)))
		stream = append(stream, sum[:]...)
	}
	for i := range p.tokens {
		number := binary.BigEndian.Uint32(stream[4*i:])
		tokens = binary.BigEndian.AppendUint64(tokens, 1+uint64(number)%uint64(vocabulary-1))
	}
	return specification.Sha256(tokens)
}
