package layout

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// sourceLimit is the size of a layout's source file in bytes ([HUNT-16]).
const sourceLimit = 16 << 10

// CheckSources is [HUNT-16] over the layouts of a predicate.
func CheckSources(layouts []Layout, stated *statement.Statement, evidence kind.Evidence) *refusal.Refusal {
	digests := lcj.NewObject()
	for i, found := range layouts {
		pointer := refusal.Index("/predicate/layouts", i) + "/source"
		if !kind.Sidecar(found.SourcePath) {
			return refusal.New("BAD_VALUE", pointer+"/path")
		}
		if known, ok := digests.Get(found.SourcePath); ok && known != found.SourceSha256 {
			return refusal.New("SUBJECT_MISMATCH", pointer+"/sha256")
		}
		digests.Set(found.SourcePath, found.SourceSha256)
	}
	err := stated.CheckSubject("layouts", specification.Sha256(lcj.Encode(digests)))
	if err != nil || evidence == nil {
		return err
	}
	for i, found := range layouts {
		pointer := refusal.Index("/predicate/layouts", i) + "/source"
		data, err := evidence(found.SourcePath, sourceLimit)
		if err != nil {
			return refusal.New(err.Code, pointer+"/path")
		}
		if specification.Sha256(data) != found.SourceSha256 {
			return refusal.New("EVIDENCE_DIGEST_MISMATCH", pointer+"/sha256")
		}
	}
	return nil
}

// CheckGeometry is [LAY-1] and [LAY-4] over the layouts of a predicate; most is
// `hunt.json#/limits/canonical_elements`.
func CheckGeometry(g Geometry, layouts []*lcj.Object, most int64) *refusal.Refusal {
	const pointer = "/predicate/geometry"
	latent := false
	for _, entry := range layouts {
		for _, tensor := range entry.Objects("tensors") {
			for _, component := range tensor.Objects("components") {
				latent = latent || !isKV(component.Text("name"))
			}
		}
	}
	if !latent && g.LatentDim != 0 {
		return refusal.New("BAD_VALUE", pointer+"/latent_dim")
	}
	if !latent && g.RopeDim != 0 {
		return refusal.New("BAD_VALUE", pointer+"/rope_dim")
	}
	if g.CanonicalElements() > most {
		return refusal.New("BAD_VALUE", pointer)
	}
	return nil
}
