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

// BucketName is the key-value bucket with the watermarks of all services.
const BucketName = "MARKS"

const (
	bucketTimeout = 2 * time.Second
	// mergeTries bounds the attempts to merge a watermark that other programs write at the same time.
	mergeTries = 5
	// clusterReplicas is the number of servers of a cluster that store the bucket, so that it
	// survives the loss of one.
	clusterReplicas = 3
	// errorNotClustered is the error code of a server outside a cluster that is asked for replicas.
	errorNotClustered jetstream.ErrorCode = 10074
)

// bucket is an open bucket, until another one replaces it.
type bucket struct {
	kv      jetstream.KeyValue
	created time.Time
}

// openBucket opens the bucket, and creates it if it is missing.
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

// createBucket creates the bucket with replicas on three servers of a cluster, or on the only
// server.
func createBucket(ctx context.Context, js jetstream.JetStream) (jetstream.KeyValue, error) {
	config := jetstream.KeyValueConfig{
		Bucket: BucketName, Description: "Marks of the databases of all services.", Storage: jetstream.FileStorage,
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
		return time.Time{}, fmt.Errorf("restore: read the state of the bucket: %w", err)
	}
	of, ok := status.(*jetstream.KeyValueBucketStatus)
	if !ok {
		return time.Time{}, fmt.Errorf("restore: a status of type %T", status)
	}
	return of.StreamInfo().Created, nil
}

var errReplaced = errors.New("restore: the bucket was replaced by another one")

// checkUnchanged returns an error unless the bucket exists and is the same.
func (b *bucket) checkUnchanged(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	created, err := createdAt(ctx, b.kv)
	if err == nil && !created.Equal(b.created) {
		err = errReplaced
	}
	return err
}

// entry is the bucket's entry of a service.
type entry struct {
	Watermarks
	// FirstHand means that the service itself published the watermarks, and that the bucket was not lost
	// since. Watermarks from witnesses are some seconds old, and the witnesses may have been restored
	// too.
	FirstHand bool `json:"firstHand"`

	revision uint64
}

// decodeEntry decodes an entry of the bucket.
func decodeEntry(text []byte, revision uint64) (e entry, err error) {
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("restore: read watermarks: %w", err)
	}
	e.revision = revision
	return e, nil
}

// merge raises the bucket's watermarks of a service, given the last known entry.
func (b *bucket) merge(ctx context.Context, service string, watermarks Watermarks, firstHand bool, seen entry) (entry, error) {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	merged := entry{Watermarks: seen.Clone(), FirstHand: seen.FirstHand || firstHand}
	merged.Merge(watermarks)
	text, err := json.Marshal(merged)
	if err != nil {
		return seen, fmt.Errorf("restore: write watermarks: %w", err)
	}
	merged.revision, err = b.kv.Update(ctx, service, text, seen.revision)
	if err != nil {
		return seen, fmt.Errorf("restore: publish watermarks: %w", err)
	}
	return merged, nil
}
