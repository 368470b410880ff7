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

// DuplicateWindow is how long the broker recognises an event that it has seen.
// The outbox forgets what it sent earlier than this, so that a repetition from
// there is dropped.
const DuplicateWindow = 4 * time.Minute

// workSuffix marks the domains whose stream is a queue of work: a message is
// there until one of the consumers has done it.
const workSuffix = "_WORK"

// Limits bounds what streams keep.
type Limits struct {
	MaxAge   time.Duration `name:"max-age" env:"MAX_AGE" default:"168h" help:"Age at which events are dropped."`
	MaxBytes int64         `name:"max-bytes" env:"MAX_BYTES" default:"1073741824" help:"Bytes that one stream may hold."`
	Replicas int           `name:"replicas" env:"REPLICAS" default:"1" help:"Servers that keep a copy: 3 in a cluster."`
}

// Streams derives the streams from the events that are declared in files: one
// for each domain, with all subjects of the domain. The subjects are not listed
// one by one, so programs that know more events and programs that know fewer
// agree on the same configuration.
func Streams(files *protoregistry.Files, limits Limits) ([]jetstream.StreamConfig, error) {
	streams := map[string]jetstream.StreamConfig{}
	var failure error
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			if !isEvent(message) {
				continue
			}
			subject, err := SubjectOf(message)
			if err != nil {
				failure = err
				return false
			}
			name := StreamOf(subject)
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
		// Work that does not fit waits in the outbox; none is dropped for newer.
		cfg.Discard = jetstream.DiscardNew
	}
	return cfg
}

// EnsureStreams creates the streams that do not exist and brings the others to
// their configuration. Any number of processes may do so at once.
func (b *Bus) EnsureStreams(ctx context.Context) error {
	for _, cfg := range b.streams {
		if _, err := b.ensure(ctx, cfg); err != nil {
			return err
		}
	}
	return nil
}

// ensure creates a stream, or changes one that is configured otherwise. A stream
// that is as it should be is left alone: an update costs the server work, and
// every consumer's session comes here.
func (b *Bus) ensure(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	stream, err := b.js.Stream(ctx, cfg.Name)
	if err == nil && configured(stream.CachedInfo().Config, cfg) {
		return stream, nil
	}
	// Who does not fill a stream may make it, and not change it (see Use.Permissions).
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

// configured reports whether a stream has what we set of a configuration. The
// server fills in the rest.
func configured(has, want jetstream.StreamConfig) bool {
	return slices.Equal(has.Subjects, want.Subjects) && has.Storage == want.Storage &&
		has.Retention == want.Retention && has.Discard == want.Discard && has.MaxAge == want.MaxAge &&
		has.MaxBytes == want.MaxBytes && has.Replicas == want.Replicas && has.Duplicates == want.Duplicates
}

// ensureStream is EnsureStreams for one of them.
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
