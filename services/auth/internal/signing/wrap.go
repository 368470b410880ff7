package signing

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Wrapper encrypts private keys before the database gets them, by a key that the
// database does not hold: a local one, or a key management service.
type Wrapper interface {
	// Wrap encrypts the private key with an id, and Unwrap decrypts it. What was wrapped
	// for one id cannot be unwrapped for another.
	Wrap(ctx context.Context, id string, private []byte) ([]byte, error)
	Unwrap(ctx context.Context, id string, wrapped []byte) ([]byte, error)
	// Current reports whether the present key wrapped it, not one of before.
	Current(wrapped []byte) bool
}

const (
	wrapKeyBytes = 32
	wrapIDBytes  = 8
)

// localWrapper wraps with AES-256-GCM by the first of its keys, and unwraps by all of
// them, so that a key can be replaced.
type localWrapper struct {
	ids     [][]byte
	ciphers []cipher.AEAD
}

// NewLocalWrapper makes a Wrapper of keys in base64, one a line, of 32 bytes each. The
// first one wraps; the others are for what they have wrapped before.
func NewLocalWrapper(text string) (Wrapper, error) {
	w := &localWrapper{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != wrapKeyBytes {
			return nil, fmt.Errorf("signing: an encryption key is 32 random bytes in base64, as openssl rand -base64 %d makes it", wrapKeyBytes)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		id := sha256.Sum256(append([]byte("rotaloom signing key encryption "), key...))
		w.ids, w.ciphers = append(w.ids, id[:wrapIDBytes]), append(w.ciphers, aead)
	}
	if len(w.ciphers) == 0 {
		return nil, errors.New("signing: there is no encryption key")
	}
	return w, nil
}

// ReadLocalWrapper is NewLocalWrapper for the keys in a file that only its owner and group
// may read: orchestrators give secrets to a group.
func ReadLocalWrapper(path string) (Wrapper, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	if info.Mode().Perm()&0o037 != 0 {
		return nil, fmt.Errorf("signing: %s may be read by everybody or written by its group: chmod 600 it", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return NewLocalWrapper(string(text))
}

func (w *localWrapper) Wrap(_ context.Context, id string, private []byte) ([]byte, error) {
	nonce := make([]byte, w.ciphers[0].NonceSize())
	_, _ = rand.Read(nonce) // It never fails.
	out := append(bytes.Clone(w.ids[0]), nonce...)
	return w.ciphers[0].Seal(out, nonce, private, []byte(id)), nil
}

func (w *localWrapper) Current(wrapped []byte) bool { return bytes.HasPrefix(wrapped, w.ids[0]) }

var errUnwrap = errors.New("signing: the key that encrypted the signing keys in the database is not among those that were given (--key-encryption-file)")

func (w *localWrapper) Unwrap(_ context.Context, id string, wrapped []byte) ([]byte, error) {
	size := w.ciphers[0].NonceSize()
	if len(wrapped) < wrapIDBytes+size {
		return nil, errUnwrap
	}
	for i := range w.ciphers {
		if bytes.Equal(w.ids[i], wrapped[:wrapIDBytes]) {
			rest := wrapped[wrapIDBytes:]
			private, err := w.ciphers[i].Open(nil, rest[:size], rest[size:], []byte(id))
			if err != nil {
				return nil, fmt.Errorf("signing: a signing key was changed: %w", err)
			}
			return private, nil
		}
	}
	return nil, errUnwrap
}
