package scheduling_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling"
)

// persons replaces commons, another domain. It has 200 persons: ids 1 to 200, person numbers "P1"
// to "P200".
type persons struct {
	commonsv1.UnimplementedPersonServiceServer
	requests atomic.Int64
}

func (p *persons) ResolvePersons(_ context.Context, req *commonsv1.ResolvePersonsRequest) (*commonsv1.ResolvePersonsResponse, error) {
	p.requests.Add(1)
	out := &commonsv1.ResolvePersonsResponse{}
	add := func(id int64) {
		if id >= 1 && id <= 200 {
			out.Persons = append(out.Persons, &commonsv1.PersonState{
				PersonId: id, PersonNumber: fmt.Sprint("P", id), Version: 1,
				FullName: fmt.Sprint("Person ", id), HireDate: "2020-01-01", TimeZone: "Europe/Zurich",
			})
		}
	}
	for _, id := range req.GetIds() {
		add(id)
	}
	for _, number := range req.GetPersonNumbers() {
		var id int64
		if _, err := fmt.Sscanf(number, "P%d", &id); err == nil {
			add(id)
		}
	}
	return out, nil
}

// fixture is the service with everything around it but a network.
type fixture struct {
	pool        *pg.Pool
	nats        *natstest.Server
	commons     *persons
	requests    *termRequests
	service     *scheduling.Service
	terms       schedulingv1.EmploymentTermServiceClient
	assignments schedulingv1.EmploymentTermAssignmentServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	sets, err := scheduling.Migrations()
	require.NoError(t, err)
	b := &fixture{pool: pgtest.New(t, sets...), nats: natstest.New(t), commons: &persons{}, requests: &termRequests{}}
	commons, local := rpctest.Local(t), rpctest.Local(t)
	commonsv1.RegisterPersonServiceServer(commons, b.commons)
	commonsv1.RegisterTermRequestServiceServer(commons, b.requests)
	b.service, err = scheduling.New(t.Context(), scheduling.Config{}, scheduling.Deps{
		Backends: serve.Backends{
			Pool: b.pool, NATS: b.nats.Conn(), Clock: clock.System{}, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
		},
		Commons: commons.Conn("scheduling", nil),
	})
	require.NoError(t, err)
	b.service.Register(local)
	b.terms = schedulingv1.NewEmploymentTermServiceClient(local.Conn("test", nil))
	b.assignments = schedulingv1.NewEmploymentTermAssignmentServiceClient(local.Conn("test", nil))
	return b
}

func inTenant(t *testing.T, id int64) context.Context { return tenant.With(t.Context(), id) }

func newTerm(name string, change ...func(*schedulingv1.EmploymentTerm)) *schedulingv1.EmploymentTerm {
	term := &schedulingv1.EmploymentTerm{
		Name: name, IsActive: proto.Bool(true), AllowsInheritance: proto.Bool(true), ProcessType: "ENFORCE_END_DATE",
		Versions: &schedulingv1.EmploymentTermVersions{EmploymentTermVersion: []*schedulingv1.EmploymentTermVersion{{
			StartDate: "2024-01-01", EndDate: "3000-01-01",
			PayRule: &commonv1.Ref{Id: proto.Int64(4), Qualifier: proto.String("Hourly"), Name: proto.String("Hourly")},
		}}},
	}
	for _, c := range change {
		c(term)
	}
	return term
}

// createTerm stores a term and returns its id.
func (b *fixture) createTerm(t *testing.T, ctx context.Context, name string) int64 {
	t.Helper()
	term, err := b.terms.CreateEmploymentTerm(ctx, newTerm(name))
	require.NoError(t, err)
	return term.GetId()
}

// events returns the events of one kind in the outbox, oldest first.
func events[T proto.Message](t *testing.T, b *fixture) []T {
	t.Helper()
	var kind T
	rows, err := b.pool.Query(tenant.All(t.Context()), `SELECT payload FROM outbox WHERE event = $1 ORDER BY id`,
		string(kind.ProtoReflect().Descriptor().FullName()))
	require.NoError(t, err)
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	var out []T
	for _, payload := range payloads {
		event := kind.ProtoReflect().New().Interface().(T)
		require.NoError(t, proto.Unmarshal(payload, event))
		out = append(out, event)
	}
	return out
}

func assertCode(t *testing.T, err error, status int, code string) {
	t.Helper()
	require.Error(t, err)
	f := fault.FromError(err)
	assert.Equal(t, code, f.Code, f.Message)
	assert.Equal(t, status, f.Status)
}

func assertSame(t *testing.T, want, got proto.Message) {
	t.Helper()
	if !proto.Equal(want, got) {
		assert.Fail(t, "messages differ", "want %v\ngot  %v", want, got)
	}
}

// run runs the parts of the service until the test ends.
func (b *fixture) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- b.service.Run(ctx) }()
	go func() { done <- b.service.Relay(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			if err := <-done; err != nil {
				assert.ErrorIs(t, err, context.Canceled)
			}
		}
	})
}

func (b *fixture) publishPerson(t *testing.T, state *commonsv1.PersonState) {
	t.Helper()
	bustest.Publish(t, b.nats.Conn(), &commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{state}})
}
