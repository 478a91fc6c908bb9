// Package document reads files under certificate.md, BYTES-1 to BYTES-3.
package document

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"lockstep/conformance/go/refusal"
)

// Sizes of [BYTES-2] in bytes.
const (
	EnvelopeLimit = 17 << 20
	PayloadLimit  = 12 << 20
	PolicyLimit   = 1 << 20
	EvidenceLimit = 1 << 30
)

// Missing says whether no file exists at a path.
func Missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Read gives the bytes of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, *refusal.Refusal) {
	unreadable := refusal.New("FILE_UNREADABLE", "")
	// Without O_NONBLOCK the opening of a FIFO would wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, unreadable
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil || !before.Mode().IsRegular() {
		return nil, unreadable
	}
	if before.Size() > limit {
		return nil, refusal.New("LIMIT_SIZE", "")
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, unreadable
	}
	after, err := file.Stat()
	if err != nil {
		return nil, unreadable
	}
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) ||
		int64(len(data)) != before.Size() {
		return nil, refusal.New("FILE_CHANGED", "")
	}
	return data, nil
}

// Folder reads files below a folder by names with `/` as separator; a file that does not exist is
// refused with EVIDENCE_MISSING ([EV-3]).
func Folder(folder string) func(name string, limit int64) ([]byte, *refusal.Refusal) {
	return func(name string, limit int64) ([]byte, *refusal.Refusal) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if Missing(path) {
			return nil, refusal.New("EVIDENCE_MISSING", "")
		}
		return Read(path, limit)
	}
}
