// Package signing keeps the keys that sign tokens.
package signing

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
)

// checksPerRotation is how often a process checks the keys while the next one is published
// and does not sign yet.
const checksPerRotation = 10

// lockKeys has who makes a signing key.
const lockKeys advisory.Lock = "signing keys"

// Config says how long keys and tokens live. All of it is required.
type Config struct {
	// TokenLife is how long a token stays valid.
	TokenLife time.Duration
	// Life is how long a key is in use, from its first token to the end of the last one.
	Life time.Duration
	// KeySetLife is how long services keep the key set.
	KeySetLife time.Duration
}

// Keys are the signing keys of the installation. All replicas share them
// through the database. It is safe for concurrent use.
type Keys struct {
	pool  *pg.Pool
	clock clock.Clock
	// tokenLife is how long a token that is signed now stays valid.
	tokenLife time.Duration
	// life is how long a key is in use.
	life time.Duration
	// ahead is how long a key is published before it signs: twice as long as services
	// keep a key set.
	ahead time.Duration
	// wrapper is nil when private keys are stored as they are.
	wrapper Wrapper

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
	useFrom  time.Time
}

// New makes Keys. Without a wrapper private keys are stored as they are.
func New(pool *pg.Pool, clk clock.Clock, cfg Config, wrapper Wrapper) (*Keys, error) {
	ahead := 2 * cfg.KeySetLife
	if cfg.TokenLife <= 0 || cfg.TokenLife > cfg.Life/2 || ahead <= 0 || cfg.Life < 4*ahead {
		return nil, fmt.Errorf("signing: tokens cannot live for %s when keys live for %s, and services keep the key set for %s: "+
			"a key must live for %s, and twice as long as tokens", cfg.TokenLife, cfg.Life, ahead/2, 4*ahead)
	}
	return &Keys{pool: pool, clock: clk, tokenLife: cfg.TokenLife, life: cfg.Life, ahead: ahead, wrapper: wrapper}, nil
}

// Run makes the next key before it is needed, until ctx ends.
func (k *Keys) Run(ctx context.Context, log *slog.Logger) error {
	ticker := time.NewTicker(k.ahead / checksPerRotation)
	defer ticker.Stop()
	for {
		if err := k.Maintain(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the signing keys could not be looked after", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Maintain makes and publishes the next key when the last one will soon sign no more,
// or retires, and wraps keys that are not wrapped by the wrapper's present key. Then the
// process looks anew with which key it signs.
func (k *Keys) Maintain(ctx context.Context) error {
	defer k.invalidate()
	return k.locked(ctx, func(ctx context.Context, tx pgx.Tx) error {
		now := k.clock.Now()
		if err := k.wrapAll(ctx, tx); err != nil {
			return err
		}
		if err := k.retire(ctx, tx, now); err != nil {
			return err
		}
		keys, err := k.load(ctx, tx, now.Add(k.tokenLife+2*k.ahead))
		if err != nil || len(keys) > 0 {
			return err
		}
		current, err := k.load(ctx, tx, now.Add(k.tokenLife))
		if err != nil {
			return err
		}
		from := now
		if len(current) > 0 {
			from = now.Add(k.ahead)
		}
		_, err = k.make(ctx, tx, from)
		return err
	})
}

// Retire has all keys replaced at the next look of a process that serves, and returns how
// many there are. No token is refused because of it. It needs no wrapper.
func Retire(ctx context.Context, db pg.Querier, now time.Time) (int64, error) {
	done, err := db.Exec(ctx, `UPDATE signing_key SET retires = true WHERE not_after > $1`, now)
	if err != nil {
		return 0, fmt.Errorf("retire signing keys: %w", err)
	}
	return done.RowsAffected(), nil
}

// retire lets the keys that retire sign no longer than until the next one is known
// everywhere, and their last token end by itself.
func (k *Keys) retire(ctx context.Context, tx pgx.Tx, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE signing_key SET not_after = least(not_after, $1), retires = false WHERE retires`,
		now.Add(k.tokenLife+2*k.ahead))
	return err
}

// invalidate has the key looked up anew that signs: another process may have made one, or
// an operator may have removed one.
func (k *Keys) invalidate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current = nil
}

// wrapAll wraps the private keys that are stored as they are, and wraps anew those that
// an earlier key wrapped, so that nobody needs that one any more. Keys that were stored as
// they are retire, since copies of the database may hold them.
func (k *Keys) wrapAll(ctx context.Context, tx pgx.Tx) error {
	if k.wrapper == nil {
		return nil
	}
	type stored struct {
		ID      string
		Private []byte
		Wrapped bool
	}
	keys, err := pg.Collect(ctx, tx, pgx.RowToStructByPos[stored], `SELECT id, private_key, wrapped FROM signing_key`)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key.Wrapped && k.wrapper.Current(key.Private) {
			continue
		}
		private, err := k.unwrap(ctx, key.ID, key.Private, key.Wrapped)
		if err != nil {
			return err
		}
		wrapped, err := k.wrapper.Wrap(ctx, key.ID, private)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE signing_key SET private_key = $2, retires = retires OR NOT wrapped, wrapped = true WHERE id = $1`, key.ID, wrapped); err != nil {
			return err
		}
	}
	return nil
}

// unwrap returns a private key as it was before it was wrapped, if it was.
func (k *Keys) unwrap(ctx context.Context, id string, private []byte, wrapped bool) ([]byte, error) {
	switch {
	case !wrapped:
		return private, nil
	case k.wrapper == nil:
		return nil, errWrapped
	}
	return k.wrapper.Unwrap(ctx, id, private)
}

// Signer returns a signer for tokens that are issued now. The first one makes
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

// Public returns the keys that may have signed tokens that are still valid, as they
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
	keys, err := pg.Collect(ctx, k.pool, func(row pgx.CollectableRow) (jose.JSONWebKey, error) {
		var id string
		var public []byte
		if err := row.Scan(&id, &public); err != nil {
			return jose.JSONWebKey{}, err
		}
		if len(public) != ed25519.PublicKeySize {
			return jose.JSONWebKey{}, errKey
		}
		return jose.JSONWebKey{Key: ed25519.PublicKey(public), KeyID: id, Algorithm: string(jose.EdDSA), Use: "sig"}, nil
	}, `SELECT id, public_key FROM signing_key WHERE not_after > $1 ORDER BY created_at DESC, id`, now)
	return &jose.JSONWebKeySet{Keys: keys}, err
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

// ensure returns the last key that signs by now and is good until the given time, and
// makes one when there is none. Replicas wait for each other, so that one makes it.
func (k *Keys) ensure(ctx context.Context, until time.Time) (*key, error) {
	var found *key
	err := k.locked(ctx, func(ctx context.Context, tx pgx.Tx) error {
		now := k.clock.Now()
		keys, err := k.load(ctx, tx, until)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if !now.Before(key.useFrom) {
				found = key
				return nil
			}
		}
		// When the present one ended too early, the next one has at least been published for
		// a while: better than one that nobody knows.
		if len(keys) > 0 {
			found = keys[len(keys)-1]
			return nil
		}
		found, err = k.make(ctx, tx, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find signing key: %w", err)
	}
	return found, nil
}

const makesKeys pg.Unaudited = "keys are made when they are needed, whoever calls"

// locked runs fn in a transaction for which the replicas wait for each other.
func (k *Keys) locked(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	return makesKeys.InTx(ctx, k.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockKeys.Wait(ctx, tx, advisory.OfDatabase); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// make stores a key that signs from a time on.
func (k *Keys) make(ctx context.Context, tx pgx.Tx, from time.Time) (*key, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	now := k.clock.Now()
	made := &key{id: rand.Text(), public: public, private: private, notAfter: from.Add(k.life), useFrom: from}
	stored := private.Seed()
	if k.wrapper != nil {
		if stored, err = k.wrapper.Wrap(ctx, made.id, stored); err != nil {
			return nil, err
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO signing_key (id, public_key, private_key, created_at, not_after, wrapped, use_from)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, made.id, []byte(public), stored, now, made.notAfter, k.wrapper != nil, from)
	return made, err
}

var (
	errKey     = errors.New("signing: a stored key has the wrong length, or is not the private one of its public key")
	errWrapped = errors.New("signing: the signing keys in the database are encrypted: give the key that encrypted them (--key-encryption-file)")
)

// load returns the keys that are good after a time, the one that signs last first.
func (k *Keys) load(ctx context.Context, db pg.Querier, after time.Time) ([]*key, error) {
	return pg.Collect(ctx, db, func(row pgx.CollectableRow) (*key, error) {
		var public, seed []byte
		found, wrapped := &key{}, false
		if err := row.Scan(&found.id, &public, &seed, &found.notAfter, &wrapped, &found.useFrom); err != nil {
			return nil, err
		}
		seed, err := k.unwrap(ctx, found.id, seed, wrapped)
		if err != nil {
			return nil, err
		}
		if len(public) != ed25519.PublicKeySize || len(seed) != ed25519.SeedSize {
			return nil, errKey
		}
		found.public, found.private = public, ed25519.NewKeyFromSeed(seed)
		if !found.public.Equal(found.private.Public()) {
			return nil, errKey
		}
		return found, nil
	}, `SELECT id, public_key, private_key, not_after, wrapped, greatest(use_from, 'epoch') FROM signing_key
		WHERE not_after > $1 ORDER BY signing_key.use_from DESC, created_at DESC, id`, after)
}
