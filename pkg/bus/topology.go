package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/defaults"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// DuplicateWindow is how long the broker detects a repeated event. The outbox deletes its sent
// events earlier, so that the broker drops every repetition from there.
const DuplicateWindow = 4 * time.Minute

// workSuffix marks domains whose stream is a work queue: a message stays in it until one of the
// consumers has handled it.
const workSuffix = "_WORK"

// Limits bounds the content of streams.
type Limits struct {
	MaxAge   time.Duration `name:"max-age" env:"MAX_AGE" default:"168h" help:"Age at which events are dropped."`
	MaxBytes int64         `name:"max-bytes" env:"MAX_BYTES" default:"1073741824" help:"Bytes that one stream may hold."`
	Replicas int           `name:"replicas" env:"REPLICAS" default:"1" help:"Servers that keep a copy: 3 in a cluster."`
}

// Streams derives the streams from the events in files: one for each domain, with all subjects of
// the domain. It does not list single subjects, so programs with different sets of events agree on
// the same configuration.
func Streams(files *protoregistry.Files, limits Limits) ([]jetstream.StreamConfig, error) {
	streams := map[string]jetstream.StreamConfig{}
	var failure error
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			if !isEvent(message) {
				continue
			}
			subject, err := EventSubject(message)
			if err != nil {
				failure = err
				return false
			}
			name := StreamName(subject)
			streams[name] = stream(name, limits)
		}
		return true
	})
	if failure != nil {
		return nil, failure
	}
	return slices.SortedFunc(maps.Values(streams), func(a, b jetstream.StreamConfig) int {
		return cmp.Compare(a.Name, b.Name)
	}), nil
}

func stream(name string, limits Limits) jetstream.StreamConfig {
	limits = defaults.Fill(limits)
	cfg := jetstream.StreamConfig{
		Name:       name,
		Subjects:   []string{"rotaloom." + strings.ToLower(name) + ".>"},
		Storage:    jetstream.FileStorage,
		Retention:  jetstream.LimitsPolicy,
		Discard:    jetstream.DiscardOld,
		MaxAge:     limits.MaxAge,
		MaxBytes:   limits.MaxBytes,
		Replicas:   limits.Replicas,
		Duplicates: DuplicateWindow,
	}
	if strings.HasSuffix(name, workSuffix) {
		cfg.Retention = jetstream.WorkQueuePolicy
		// Work that does not fit waits in the outbox; no work is dropped for newer work.
		cfg.Discard = jetstream.DiscardNew
	}
	return cfg
}

// EnsureStreams creates missing streams and updates the configuration of the others. Any number of
// processes may call it at once.
func (b *Bus) EnsureStreams(ctx context.Context) error {
	for _, cfg := range b.streams {
		if _, err := b.ensure(ctx, cfg); err != nil {
			return err
		}
	}
	return nil
}

// ensure creates a stream, or updates one with another configuration. It leaves a correct stream
// alone: an update costs the server work, and every consumer session calls ensure.
func (b *Bus) ensure(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	stream, err := b.js.Stream(ctx, cfg.Name)
	if err == nil && hasConfig(stream.CachedInfo().Config, cfg) {
		return stream, nil
	}
	// Services that do not fill a stream may create it, but not change it (see User.Permissions).
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if stream, err = b.js.CreateStream(ctx, cfg); err == nil {
			return stream, nil
		}
	}
	if stream, err = b.js.CreateOrUpdateStream(ctx, cfg); err != nil {
		return nil, fmt.Errorf("bus: ensure stream %s: %w", cfg.Name, err)
	}
	return stream, nil
}

// hasConfig reports whether a stream has the fields of a configuration that the bus sets. The
// server fills in the others.
func hasConfig(has, want jetstream.StreamConfig) bool {
	return slices.Equal(has.Subjects, want.Subjects) && has.Storage == want.Storage &&
		has.Retention == want.Retention && has.Discard == want.Discard && has.MaxAge == want.MaxAge &&
		has.MaxBytes == want.MaxBytes && has.Replicas == want.Replicas && has.Duplicates == want.Duplicates
}

// ensureStream is EnsureStreams for one stream.
func (b *Bus) ensureStream(ctx context.Context, name string) (jetstream.Stream, error) {
	at := slices.IndexFunc(b.streams, func(cfg jetstream.StreamConfig) bool { return cfg.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("bus: no event of this program belongs to a stream %q", name)
	}
	return b.ensure(ctx, b.streams[at])
}

func isEvent(message protoreflect.MessageDescriptor) bool {
	return proto.HasExtension(message.Options(), optionsv1.E_Event)
}

// StreamNames returns the names of all streams, in order.
func (b *Bus) StreamNames() []string {
	names := make([]string, len(b.streams))
	for i, cfg := range b.streams {
		names[i] = cfg.Name
	}
	return names
}
