package revocation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// BucketName is the key-value bucket that the auth service fills and every process watches.
	BucketName = "REVOCATIONS"
	// maxBytes bounds the bucket: about half a million revocations. Processes learn of further ones
	// by asking auth.
	maxBytes = 64 << 20
)

// TokenKey returns the key of one access token, by its id.
func TokenKey(jti string) string { return "j." + jti }

// SessionKey returns the key of all access tokens of one log-in.
func SessionKey(sid string) string { return "s." + sid }

// boundPrefix begins the keys of bounds.
const boundPrefix = "b."

// BoundKey returns the key of all access tokens that were issued up to a time. Tokens state the
// time in whole seconds.
func BoundKey(issued time.Time) string {
	return boundPrefix + strconv.FormatInt(issued.Unix(), 10)
}

// parseBound returns the time in the key of a bound.
func parseBound(key string) (issued int64, is bool) {
	text, is := strings.CutPrefix(key, boundPrefix)
	if !is {
		return 0, false
	}
	issued, err := strconv.ParseInt(text, 10, 64)
	return issued, err == nil
}

// Bucket is the bucket as auth, which fills it, uses it.
type Bucket struct {
	kv jetstream.KeyValue
	// Created distinguishes a bucket from another one that replaced it.
	Created time.Time
}

// EnsureBucket creates the bucket if it is missing. Entries expire after life, which must be longer
// than the life of any access token.
func EnsureBucket(ctx context.Context, conn *nats.Conn, life time.Duration, replicas int) (*Bucket, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("revocations: %w", err)
	}
	kv, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: BucketName, Description: "Access tokens that ended before their time.",
		TTL: life, MaxBytes: maxBytes, Storage: jetstream.FileStorage, Replicas: replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("revocations: create the bucket: %w", err)
	}
	created, err := createdAt(ctx, kv)
	if err != nil {
		return nil, err
	}
	return &Bucket{kv: kv, Created: created}, nil
}

// Put adds a revocation. Repeating it is harmless.
func (b *Bucket) Put(ctx context.Context, key string, expiresAt time.Time) error {
	if _, err := b.kv.PutString(ctx, key, strconv.FormatInt(expiresAt.Unix(), 10)); err != nil {
		return fmt.Errorf("revocations: put: %w", err)
	}
	return nil
}

// CheckUnchanged returns an error unless the bucket exists and is the same.
func (b *Bucket) CheckUnchanged(ctx context.Context) error {
	created, err := createdAt(ctx, b.kv)
	if err == nil && !created.Equal(b.Created) {
		err = errReplaced
	}
	return err
}

var errReplaced = errors.New("revocations: the bucket was replaced by another one")

func createdAt(ctx context.Context, kv jetstream.KeyValue) (time.Time, error) {
	status, err := kv.Status(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("revocations: read the state of the bucket: %w", err)
	}
	of, ok := status.(*jetstream.KeyValueBucketStatus)
	if !ok {
		return time.Time{}, fmt.Errorf("revocations: a status of type %T", status)
	}
	return of.StreamInfo().Created, nil
}
