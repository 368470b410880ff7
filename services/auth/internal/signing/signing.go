// Package signing stores the keys that sign tokens.
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
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// checksPerRotation is the number of checks of the keys during the time in which the next key is published and
// does not sign yet.
const checksPerRotation = 10

// lockKeys serializes the creation of signing keys.
const lockKeys advisory.Lock = "signing keys"

// Config contains the lifetimes of keys and tokens. All fields are required.
type Config struct {
	// TokenLife is how long a token is valid.
	TokenLife time.Duration
	// Life is how long a key is used, from its first token to the end of the last one.
	Life time.Duration
	// KeySetLife is how long services cache the key set.
	KeySetLife time.Duration
}

// Keys are the signing keys of the installation. All replicas share them through the database. Keys is safe for
// concurrent use.
type Keys struct {
	pool  *pg.Pool
	clock clock.Clock
	// tokenLife is how long a token that is signed now is valid.
	tokenLife time.Duration
	// life is how long a key is used.
	life time.Duration
	// ahead is how long a key is published before it signs: twice as long as services cache the key set.
	ahead time.Duration
	// wrapper is nil if private keys are stored without encryption.
	wrapper Wrapper

	mu      sync.Mutex
	current *key
	// public is the key set that was read last, and valid until publicUntil.
	public      *jose.JSONWebKeySet
	publicUntil time.Time
}

const (
	// publicLife is how long the published keys are cached.
	publicLife = time.Second
	// clockMargin is the time before the creation of the next key in which the key set is not cached. It
	// exceeds the clock differences between replicas, so no replica creates a key earlier.
	clockMargin = time.Hour
)

type key struct {
	id       string
	public   ed25519.PublicKey
	private  ed25519.PrivateKey
	signer   jose.Signer
	notAfter time.Time
	useFrom  time.Time
}

// New returns Keys. Without a wrapper, private keys are stored without encryption.
func New(pool *pg.Pool, clk clock.Clock, cfg Config, wrapper Wrapper) (*Keys, error) {
	ahead := 2 * cfg.KeySetLife
	if cfg.TokenLife <= 0 || cfg.TokenLife > cfg.Life/2 || ahead <= 0 || cfg.Life < 4*ahead {
		return nil, fmt.Errorf("signing: tokens cannot live for %s if keys live for %s and services cache the key set for %s: "+
			"a key must live for at least %s, and twice as long as tokens", cfg.TokenLife, cfg.Life, ahead/2, 4*ahead)
	}
	return &Keys{pool: pool, clock: clk, tokenLife: cfg.TokenLife, life: cfg.Life, ahead: ahead, wrapper: wrapper}, nil
}

// Run creates the next key before it is needed, until ctx ends.
func (k *Keys) Run(ctx context.Context, log *slog.Logger) error {
	ticker := time.NewTicker(k.ahead / checksPerRotation)
	defer ticker.Stop()
	for {
		if err := k.Maintain(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the signing keys could not be maintained", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Maintain creates and publishes the next key if the last one will soon stop signing or retires. It encrypts
// keys that the wrapper's current key has not encrypted. Afterwards the process selects its signing key again.
func (k *Keys) Maintain(ctx context.Context) error {
	defer k.invalidate()
	return k.inLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
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

// Retire marks all keys for replacement at the next check of a serving process, and returns their number.
// Existing tokens stay valid. It needs no wrapper.
func Retire(ctx context.Context, db pg.Querier, now time.Time) (int64, error) {
	done, err := db.Exec(ctx, `UPDATE signing_key SET retires = true WHERE not_after > $1`, now)
	if err != nil {
		return 0, fmt.Errorf("retire signing keys: %w", err)
	}
	return done.RowsAffected(), nil
}

// retire limits the signing time of retiring keys to the time until all services know the next key. Their last
// tokens stay valid until their end.
func (k *Keys) retire(ctx context.Context, tx pgx.Tx, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE signing_key SET not_after = least(not_after, $1), retires = false WHERE retires`,
		now.Add(k.tokenLife+2*k.ahead))
	return err
}

// invalidate makes the next caller read the signing key again: another process may have created one, or an
// operator may have removed one.
func (k *Keys) invalidate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current = nil
}

// wrapAll encrypts private keys that are stored without encryption, and re-encrypts keys that an earlier
// wrapping key encrypted, so that the earlier key becomes unnecessary. Keys that were stored without encryption
// retire, because copies of the database may contain them.
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

// unwrap returns a private key in plain form.
func (k *Keys) unwrap(ctx context.Context, id string, private []byte, wrapped bool) ([]byte, error) {
	switch {
	case !wrapped:
		return private, nil
	case k.wrapper == nil:
		return nil, errWrapped
	}
	return k.wrapper.Unwrap(ctx, id, private)
}

// Signer returns a signer for tokens that are issued now. The first call creates the first key.
func (k *Keys) Signer(ctx context.Context) (jose.Signer, error) {
	current, err := k.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	return current.signer, nil
}

// newSigner returns the signer of a key. It is safe for concurrent use.
func newSigner(k *key) (jose.Signer, error) {
	opts := (&jose.SignerOptions{}).WithType("JWT").WithHeader(jose.HeaderKey("kid"), k.id)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: k.private}, opts)
	if err != nil {
		return nil, fmt.Errorf("make signer: %w", err)
	}
	return signer, nil
}

// Public returns the keys of all tokens that can still be valid, at most a second old. There is at least one.
// Callers must not modify the result.
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
	if set, err = k.loadPublished(ctx, now); err != nil {
		return nil, err
	}
	// Do not cache the set when a new key may appear: it must be published before its first token.
	if now.Add(k.tokenLife + clockMargin).Before(current.notAfter) {
		k.mu.Lock()
		k.public, k.publicUntil = set, now.Add(publicLife)
		k.mu.Unlock()
	}
	return set, nil
}

// loadPublished reads the keys that are published at a time.
func (k *Keys) loadPublished(ctx context.Context, now time.Time) (*jose.JSONWebKeySet, error) {
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
	if current.signer, err = newSigner(current); err != nil {
		return nil, err
	}
	k.current = current
	return current, nil
}

// ensure returns the newest key that signs already and is valid until a time. If there is none, it creates one;
// replicas wait for each other, so that only one of them does.
func (k *Keys) ensure(ctx context.Context, until time.Time) (*key, error) {
	var found *key
	err := k.inLock(ctx, func(ctx context.Context, tx pgx.Tx) error {
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
		// If the current key ended early, use the next one although it does not sign yet: services know it
		// better than a completely new one.
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

const makesKeys pg.Unaudited = "keys are created on demand, for any caller"

// inLock runs fn in a transaction under a lock that all replicas share.
func (k *Keys) inLock(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	return makesKeys.InTx(ctx, k.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockKeys.Wait(tenant.All(ctx), tx); err != nil {
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
	created := &key{id: rand.Text(), public: public, private: private, notAfter: from.Add(k.life), useFrom: from}
	stored := private.Seed()
	if k.wrapper != nil {
		if stored, err = k.wrapper.Wrap(ctx, created.id, stored); err != nil {
			return nil, err
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO signing_key (id, public_key, private_key, created_at, not_after, wrapped, use_from)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, created.id, []byte(public), stored, now, created.notAfter, k.wrapper != nil, from)
	return created, err
}

var (
	errKey     = errors.New("signing: a stored key has the wrong length, or its private and public parts do not match")
	errWrapped = errors.New("signing: the signing keys in the database are encrypted: pass the key that encrypted them (--key-encryption-file)")
)

// load returns the keys that are valid after a time, beginning with the one that signs last.
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
