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

// Wrapper encrypts private keys for the database with a key that is not in the database: a local key, or one in
// a key management service.
type Wrapper interface {
	// Wrap encrypts the private key with an id, and Unwrap decrypts it. Unwrap fails for another id.
	Wrap(ctx context.Context, id string, private []byte) ([]byte, error)
	Unwrap(ctx context.Context, id string, wrapped []byte) ([]byte, error)
	// Current reports whether the current wrapping key, not an earlier one, encrypted a private key.
	Current(wrapped []byte) bool
}

const (
	wrapKeyBytes = 32
	wrapIDBytes  = 8
)

// localWrapper encrypts with AES-256-GCM and its first key, and decrypts with all of its keys, so that keys can
// be replaced.
type localWrapper struct {
	ids     [][]byte
	ciphers []cipher.AEAD
}

// NewLocalWrapper returns a Wrapper from base64 text with one key of 32 bytes on each line. It encrypts with
// the first key; the other keys decrypt older data.
func NewLocalWrapper(text string) (Wrapper, error) {
	w := &localWrapper{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != wrapKeyBytes {
			return nil, fmt.Errorf("signing: an encryption key must be 32 random bytes in base64; create one with openssl rand -base64 %d", wrapKeyBytes)
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

// ReadLocalWrapper is NewLocalWrapper for a file that only its owner and group may read, because orchestrators
// give secrets to a group.
func ReadLocalWrapper(path string) (Wrapper, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	if info.Mode().Perm()&0o037 != 0 {
		return nil, fmt.Errorf("signing: other users can read %s, or its group can write it: run chmod 600", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return NewLocalWrapper(string(text))
}

func (w *localWrapper) Wrap(_ context.Context, id string, private []byte) ([]byte, error) {
	nonce := make([]byte, w.ciphers[0].NonceSize())
	_, _ = rand.Read(nonce) // rand.Read never fails.
	out := append(bytes.Clone(w.ids[0]), nonce...)
	return w.ciphers[0].Seal(out, nonce, private, []byte(id)), nil
}

func (w *localWrapper) Current(wrapped []byte) bool { return bytes.HasPrefix(wrapped, w.ids[0]) }

var errUnwrap = errors.New("signing: the key that encrypted the signing keys in the database is missing: add it to --key-encryption-file")

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
				return nil, fmt.Errorf("signing: a signing key was tampered with: %w", err)
			}
			return private, nil
		}
	}
	return nil, errUnwrap
}
