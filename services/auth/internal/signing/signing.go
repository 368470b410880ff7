// Package signing keeps the keys that sign tokens.
package signing

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// keyLife is how long a key is in use, from its creation to the end of the
// last token that it signed.
const keyLife = 90 * 24 * time.Hour

// Keys are the signing keys of the installation. All replicas share them
// through the database. It is safe for concurrent use.
type Keys struct {
	pool  *pgxpool.Pool
	clock clock.Clock
	// tokenLife is how long a token that is signed now stays valid.
	tokenLife time.Duration

	mu      sync.Mutex
	current *key
	// public is what was published last, until publicUntil.
	public      *jose.JSONWebKeySet
	publicUntil time.Time
}

const (
	// publicLife is how long the keys that are published are remembered.
	publicLife = time.Second
	// settled is how long before the next key is made they are not any more: no
	// replica's clock is so far ahead that it makes one before.
	settled = time.Hour
)

type key struct {
	id       string
	public   ed25519.PublicKey
	private  ed25519.PrivateKey
	signer   jose.Signer
	notAfter time.Time
}

// New makes Keys for tokens that live as long as given.
func New(pool *pgxpool.Pool, clk clock.Clock, tokenLife time.Duration) (*Keys, error) {
	if tokenLife <= 0 || tokenLife > keyLife/2 {
		return nil, fmt.Errorf("signing: tokens cannot live for %s", tokenLife)
	}
	return &Keys{pool: pool, clock: clk, tokenLife: tokenLife}, nil
}

// Signer answers a signer for tokens that are issued now. The first one makes
// the first key.
func (k *Keys) Signer(ctx context.Context) (jose.Signer, error) {
	current, err := k.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	return current.signer, nil
}

// signerOf makes the signer of a key. It is safe for concurrent use.
func signerOf(k *key) (jose.Signer, error) {
	opts := (&jose.SignerOptions{}).WithType("JWT").WithHeader(jose.HeaderKey("kid"), k.id)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: k.private}, opts)
	if err != nil {
		return nil, fmt.Errorf("make signer: %w", err)
	}
	return signer, nil
}

// Public answers the keys that may have signed tokens that are still valid, as they
// were at most a second ago. There is at least one. Callers must not change it.
func (k *Keys) Public(ctx context.Context) (*jose.JSONWebKeySet, error) {
	current, err := k.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	now := k.clock.Now()
	k.mu.Lock()
	set, until := k.public, k.publicUntil
	k.mu.Unlock()
	if now.Before(until) {
		return set, nil
	}
	if set, err = k.published(ctx, now); err != nil {
		return nil, err
	}
	// A key that somebody makes is published before anybody sees a token of it.
	if now.Add(k.tokenLife + settled).Before(current.notAfter) {
		k.mu.Lock()
		k.public, k.publicUntil = set, now.Add(publicLife)
		k.mu.Unlock()
	}
	return set, nil
}

// published reads the keys that are published at a time.
func (k *Keys) published(ctx context.Context, now time.Time) (*jose.JSONWebKeySet, error) {
	keys, err := load(ctx, k.pool, now)
	if err != nil {
		return nil, err
	}
	set := &jose.JSONWebKeySet{}
	for _, key := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.public, KeyID: key.id, Algorithm: string(jose.EdDSA), Use: "sig"})
	}
	return set, nil
}

func (k *Keys) signingKey(ctx context.Context) (*key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	until := k.clock.Now().Add(k.tokenLife)
	if k.current != nil && until.Before(k.current.notAfter) {
		return k.current, nil
	}
	current, err := k.ensure(ctx, until)
	if err != nil {
		return nil, err
	}
	if current.signer, err = signerOf(current); err != nil {
		return nil, err
	}
	k.current = current
	return current, nil
}

// ensure answers the newest key that is good until the given time, and makes
// one when there is none. Replicas wait for each other, so that one makes it.
func (k *Keys) ensure(ctx context.Context, until time.Time) (*key, error) {
	var found *key
	err := pg.InTx(ctx, k.pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('signing_key', 0))`); err != nil {
			return err
		}
		keys, err := load(ctx, tx, until)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			found = keys[0]
			return nil
		}
		found, err = k.make(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find signing key: %w", err)
	}
	return found, nil
}

func (k *Keys) make(ctx context.Context, tx pgx.Tx) (*key, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	now := k.clock.Now()
	made := &key{id: rand.Text(), public: public, private: private, notAfter: now.Add(keyLife)}
	_, err = tx.Exec(ctx, `INSERT INTO signing_key (id, public_key, private_key, created_at, not_after)
		VALUES ($1, $2, $3, $4, $5)`, made.id, []byte(public), private.Seed(), now, made.notAfter)
	return made, err
}

var errKey = errors.New("signing: a stored key has the wrong length")

// load answers the keys that are good after a time, the newest first.
func load(ctx context.Context, db pg.Querier, after time.Time) ([]*key, error) {
	rows, err := db.Query(ctx, `SELECT id, public_key, private_key, not_after FROM signing_key
		WHERE not_after > $1 ORDER BY created_at DESC, id`, after)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*key, error) {
		var public, seed []byte
		k := &key{}
		if err := row.Scan(&k.id, &public, &seed, &k.notAfter); err != nil {
			return nil, err
		}
		if len(public) != ed25519.PublicKeySize || len(seed) != ed25519.SeedSize {
			return nil, errKey
		}
		k.public, k.private = public, ed25519.NewKeyFromSeed(seed)
		return k, nil
	})
}
