package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// BucketName is the key-value bucket with the marks of all services.
const BucketName = "MARKS"

const (
	bucketTimeout = 2 * time.Second
	// mergeTries bounds how often a mark is merged that others write at the same time.
	mergeTries = 5
	// clusterReplicas is how many servers of a cluster keep the bucket, so that it
	// outlives one of them.
	clusterReplicas = 3
	// errorNotClustered is the code with which a server outside a cluster refuses replicas.
	errorNotClustered jetstream.ErrorCode = 10074
)

// bucket is the bucket while it is the same one.
type bucket struct {
	kv      jetstream.KeyValue
	created time.Time
}

// openBucket opens the bucket, and makes it when it is missing.
func openBucket(ctx context.Context, conn *nats.Conn) (*bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	kv, err := js.KeyValue(ctx, BucketName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = createBucket(ctx, js)
		if errors.Is(err, jetstream.ErrBucketExists) {
			kv, err = js.KeyValue(ctx, BucketName)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("restore: open the bucket: %w", err)
	}
	created, err := createdAt(ctx, kv)
	return &bucket{kv, created}, err
}

// createBucket creates the bucket with a replica on each of three servers of a cluster, or
// on the only server.
func createBucket(ctx context.Context, js jetstream.JetStream) (jetstream.KeyValue, error) {
	config := jetstream.KeyValueConfig{
		Bucket: BucketName, Description: "How far the database of each service has come.", Storage: jetstream.FileStorage,
		Replicas: clusterReplicas,
	}
	kv, err := js.CreateKeyValue(ctx, config)
	if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) && refused.ErrorCode == errorNotClustered {
		config.Replicas = 1
		kv, err = js.CreateKeyValue(ctx, config)
	}
	return kv, err
}

func createdAt(ctx context.Context, kv jetstream.KeyValue) (time.Time, error) {
	status, err := kv.Status(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("restore: look at the bucket: %w", err)
	}
	of, ok := status.(*jetstream.KeyValueBucketStatus)
	if !ok {
		return time.Time{}, fmt.Errorf("restore: a status of type %T", status)
	}
	return of.StreamInfo().Created, nil
}

var errReplaced = errors.New("restore: another bucket took the place of the one before")

// checkUnchanged returns an error unless the bucket is there and the same.
func (b *bucket) checkUnchanged(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	created, err := createdAt(ctx, b.kv)
	if err == nil && !created.Equal(b.created) {
		err = errReplaced
	}
	return err
}

// entry is what the bucket has of a service.
type entry struct {
	Marks
	// FirstHand says that the service itself published it, and that the bucket was not lost
	// since. Witnesses of others are some seconds old, and may be restored themselves.
	FirstHand bool `json:"firstHand"`

	revision uint64
}

// decodeEntry reads an entry of the bucket.
func decodeEntry(text []byte, revision uint64) (e entry, err error) {
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("restore: read marks: %w", err)
	}
	e.revision = revision
	return e, nil
}

// merge raises what the bucket has of a service, given what was last seen there.
func (b *bucket) merge(ctx context.Context, service string, marks Marks, firstHand bool, seen entry) (entry, error) {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	merged := entry{Marks: seen.Clone(), FirstHand: seen.FirstHand || firstHand}
	merged.Merge(marks)
	text, err := json.Marshal(merged)
	if err != nil {
		return seen, fmt.Errorf("restore: write marks: %w", err)
	}
	merged.revision, err = b.kv.Update(ctx, service, text, seen.revision)
	if err != nil {
		return seen, fmt.Errorf("restore: publish marks: %w", err)
	}
	return merged, nil
}
