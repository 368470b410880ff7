package replica_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const waitTimeout = 2 * time.Minute

// Events of things. ThingsChanged has a list of whole states; GroupsChanged has
// states of several things at once under one version; ThingsStepped has states
// that may be steps.
var (
	file   = newFile()
	things = event("ThingsChanged")
	groups = event("GroupsChanged")
	steps  = event("ThingsStepped")
)

func event(name protoreflect.Name) protoreflect.MessageDescriptor {
	return file.Messages().ByName(name)
}

func newFile() protoreflect.FileDescriptor {
	made, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("rotaloom/test/v1/replica.proto"), Package: proto.String("rotaloom.test.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			message("Thing", nil, int64s("id"), int64s("version"), int64s("value"), bools("gone"), bools("all")),
			message("Group", nil, list(int64s("ids")), int64s("value")),
			message("ThingsChanged", &optionsv1.Event{Subject: "rotaloom.test.thing.changed", Consumers: []string{"reader"}, Replication: &optionsv1.Replication{
				Owner: "test", Topic: "things", States: "things", Key: "id", Version: "version", Deleted: "gone",
			}}, list(messages("things", "Thing"))),
			message("GroupsChanged", &optionsv1.Event{Subject: "rotaloom.test.group.changed", Consumers: []string{"reader"}, Replication: &optionsv1.Replication{
				Owner: "test", Topic: "groups", States: "groups", Key: "ids", Version: "revision",
			}}, int64s("revision"), list(messages("groups", "Group"))),
			message("ThingsStepped", &optionsv1.Event{Subject: "rotaloom.test.thing.stepped", Consumers: []string{"reader"}, Replication: &optionsv1.Replication{
				Owner: "test", Topic: "steps", States: "things", Key: "id", Version: "version", Complete: "all", Deleted: "gone",
			}}, list(messages("things", "Thing"))),
		},
	}, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	return made
}

func message(name string, option *optionsv1.Event, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
	made := &descriptorpb.DescriptorProto{Name: proto.String(name), Field: fields, Options: &descriptorpb.MessageOptions{}}
	if option != nil {
		proto.SetExtension(made.Options, optionsv1.E_Event, option)
	}
	for i, f := range fields {
		f.Number, f.JsonName = proto.Int32(int32(i+1)), f.Name
	}
	return made
}

func field(name string, kind descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
	return &descriptorpb.FieldDescriptorProto{
		Name: proto.String(name), Type: kind.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
}

func int64s(name string) *descriptorpb.FieldDescriptorProto {
	return field(name, descriptorpb.FieldDescriptorProto_TYPE_INT64)
}

func bools(name string) *descriptorpb.FieldDescriptorProto {
	return field(name, descriptorpb.FieldDescriptorProto_TYPE_BOOL)
}

func messages(name, of string) *descriptorpb.FieldDescriptorProto {
	made := field(name, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE)
	made.TypeName = proto.String(".rotaloom.test.v1." + of)
	return made
}

func list(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
	f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	return f
}

// thing is a state of the tests.
type thing struct {
	id, version, value int64
	gone, all          bool
}

// announce returns an event with things.
func announce(of protoreflect.MessageDescriptor, states ...thing) proto.Message {
	made := dynamicpb.NewMessage(of)
	to := made.Mutable(of.Fields().ByName("things")).List()
	fields := file.Messages().ByName("Thing").Fields()
	for _, s := range states {
		m := to.AppendMutable().Message()
		m.Set(fields.ByName("id"), protoreflect.ValueOfInt64(s.id))
		m.Set(fields.ByName("version"), protoreflect.ValueOfInt64(s.version))
		m.Set(fields.ByName("value"), protoreflect.ValueOfInt64(s.value))
		m.Set(fields.ByName("gone"), protoreflect.ValueOfBool(s.gone))
		m.Set(fields.ByName("all"), protoreflect.ValueOfBool(s.all))
	}
	return made
}

func readValue(m *dynamicpb.Message) int64 {
	return m.Get(m.Descriptor().Fields().ByName("value")).Int()
}

// ownTables are the tables of an owner, and of a copy that keeps values and, where states are
// steps, their sums.
const ownTables = `
CREATE TABLE thing (tenant_id bigint, id bigint, version bigint, value bigint, PRIMARY KEY (tenant_id, id));
CREATE TABLE copy (tenant_id bigint, id bigint, value bigint, PRIMARY KEY (tenant_id, id))`

// fixture is an owner and a copy, on a database and a broker.
type fixture struct {
	t      *testing.T
	pool   *pg.Pool
	server *natstest.Server
	conn   *nats.Conn
	bus    *bus.Bus
	copied *replica.Replica
	relay  *outbox.Relay
	reg    *prometheus.Registry
}

func newPool(t *testing.T) *pg.Pool {
	t.Helper()
	tables, err := replica.Migrations()
	require.NoError(t, err)
	events, err := outbox.Migrations()
	require.NoError(t, err)
	pool := pgtest.New(t, events, tables, audit.Migrations())
	_, err = pool.Exec(t.Context(), ownTables)
	require.NoError(t, err)
	return pool
}

// copyValues returns a copy that keeps the values of things or, for steps, their sums.
func copyValues(pool *pg.Pool, of protoreflect.MessageDescriptor) *replica.Replica {
	return makeCopy(pool, of, func(err error) error { return err })
}

// refusing returns a copy of things; failed translates the errors of its tables.
func refusing(pool *pg.Pool, failed func(error) error) *replica.Replica {
	return makeCopy(pool, things, func(err error) error {
		if err == nil {
			return nil
		}
		return failed(err)
	})
}

func makeCopy(pool *pg.Pool, of protoreflect.MessageDescriptor, failed func(error) error) *replica.Replica {
	return replica.New(pool, replica.Copy[*dynamicpb.Message]{
		Service: "reader", Event: dynamicpb.NewMessage(of),
		Apply: func(ctx context.Context, tx pgx.Tx, changes []replica.Change[*dynamicpb.Message]) error {
			tenantID := tenant.Of(ctx)
			batch := &pgx.Batch{}
			for _, c := range changes {
				switch {
				case c.Deleted:
					batch.Queue(`DELETE FROM copy WHERE tenant_id = $1 AND id = $2`, tenantID, c.Key)
				case c.Whole:
					batch.Queue(`INSERT INTO copy VALUES ($1, $2, $3) ON CONFLICT (tenant_id, id) DO UPDATE SET value = $3`,
						tenantID, c.Key, readValue(c.State))
				default:
					batch.Queue(`INSERT INTO copy AS c VALUES ($1, $2, $3) ON CONFLICT (tenant_id, id) DO UPDATE SET value = c.value + $3`,
						tenantID, c.Key, readValue(c.State))
				}
			}
			return failed(tx.SendBatch(ctx, batch).Close())
		},
	})
}

// thingTopic publishes the things of the table; their versions may be raised.
func thingTopic() replica.Topic {
	return replica.Topic{
		Event: dynamicpb.NewMessage(things), Tenants: `SELECT DISTINCT tenant_id FROM thing`,
		Fingerprints: `SELECT id AS key, version AS mark FROM thing WHERE tenant_id = $1 AND id > $2 AND id <= $3`,
		States: func(ctx context.Context, tx pgx.Tx, wanted []replica.Gap) ([]proto.Message, error) {
			tenantID := tenant.Of(ctx)
			var published []thing
			for _, w := range wanted {
				s := thing{id: w.Key}
				err := tx.QueryRow(ctx, `UPDATE thing SET version = CASE WHEN version < $3 THEN $3 + 1 ELSE version END
					WHERE tenant_id = $1 AND id = $2 RETURNING version, value`, tenantID, w.Key, w.Version).Scan(&s.version, &s.value)
				if errors.Is(err, pgx.ErrNoRows) {
					s.gone, s.version, err = true, w.NextVersion(0), nil
				}
				if err != nil {
					return nil, err
				}
				published = append(published, s)
			}
			return []proto.Message{announce(things, published...)}, nil
		},
	}
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{t: t, pool: newPool(t), server: natstest.New(t), reg: prometheus.NewRegistry()}
	w.conn = w.server.Conn()
	files := &protoregistry.Files{}
	require.NoError(t, files.RegisterFile(file))
	var err error
	w.bus, err = bus.New(bus.Options{
		Conn: w.conn, Events: files, DeadLetters: outbox.NewDeadLetters(w.pool), Transient: pgerr.Unavailable, Log: pgtest.Log(t), Registry: w.reg,
	})
	require.NoError(t, err)
	w.relay, err = outbox.NewRelay(outbox.Options{Pool: w.pool, Bus: w.bus, Log: pgtest.Log(t), Registry: w.reg})
	require.NoError(t, err)
	w.copied = copyValues(w.pool, things)
	return w
}

// run runs something until the test ends or it is stopped.
func (w *fixture) run(fn func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		assert.NoError(w.t, fn(ctx))
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(stop)
	return stop
}

// serve runs the relay, the consumer and the replicator of both sides.
func (w *fixture) serve(every time.Duration) {
	w.t.Helper()
	r, err := replica.NewReplicator(replica.Options{
		Pool: w.pool, Bus: w.bus, Log: pgtest.Log(w.t), Registry: w.reg,
		Config: replica.Config{CompareEvery: every, Settle: 50 * time.Millisecond},
	}, []*replica.Replica{w.copied}, []replica.Topic{thingTopic()})
	require.NoError(w.t, err)
	w.run(w.relay.Run)
	w.run(func(ctx context.Context) error { return w.bus.Run(ctx, r.Consumers()...) })
	w.run(r.Run)
}

// change changes things of a tenant, and publishes them unless the events are lost.
func (w *fixture) change(tenantID int64, lost bool, ids ...int64) {
	w.t.Helper()
	ctx := tenant.With(w.t.Context(), tenantID)
	require.NoError(w.t, pg.InTx(ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `INSERT INTO thing AS t SELECT $1, id, 1, 1000 * id FROM unnest($2::bigint[]) AS id
			ON CONFLICT (tenant_id, id) DO UPDATE SET version = t.version + 1, value = t.value + 1 RETURNING id, version, value`, tenantID, ids)
		if err != nil {
			return err
		}
		published, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s thing, err error) {
			return s, row.Scan(&s.id, &s.version, &s.value)
		})
		if err != nil || lost {
			return err
		}
		return outbox.Append(ctx, tx, announce(things, published...))
	}))
}

func (w *fixture) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.pool.Exec(tenant.All(w.t.Context()), sql, args...)
	require.NoError(w.t, err)
}

// equal waits until the copy equals the owner's data.
func (w *fixture) equal() {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.differing() == 0 }, waitTimeout, 20*time.Millisecond)
}

func (w *fixture) differing() (n int) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), `SELECT count(*) FROM thing FULL JOIN copy USING (tenant_id, id)
		WHERE thing.value IS DISTINCT FROM copy.value`).Scan(&n))
	return n
}

func ids(from, to int64) []int64 {
	var out []int64
	for id := from; id <= to; id++ {
		out = append(out, id)
	}
	return out
}

// deliver gives events to a copy's handler as one batch.
func deliver(t *testing.T, r *replica.Replica, tenantID int64, events ...proto.Message) error {
	t.Helper()
	batch := make([]bus.Message, len(events))
	for i, e := range events {
		payload, err := proto.Marshal(e)
		require.NoError(t, err)
		batch[i] = bus.Message{ID: fmt.Sprint(i), Tenant: tenantID, Event: string(e.ProtoReflect().Descriptor().FullName()), Payload: payload}
	}
	return r.Consumer().HandleBatch(tenant.With(t.Context(), tenantID), batch)
}
