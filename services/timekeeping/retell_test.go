package timekeeping_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Terms and memberships that commons never heard of are told when it asks.
func TestTermsAndMembershipsAreToldAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "One")
	_, err := b.pool.Exec(ctx, `INSERT INTO membership_head (tenant_id, person_id, version) SELECT 1, n, n FROM generate_series(1001, 1250) AS n`)
	require.NoError(t, err)
	_, err = b.pool.Exec(ctx, `INSERT INTO membership (tenant_id, person_id, employment_term_id, from_date, to_date)
		SELECT 1, n, $1, '2026-01-01', '3000-01-01' FROM generate_series(1001, 1250) AS n`, term)
	require.NoError(t, err)
	_, err = b.pool.Exec(ctx, `DELETE FROM outbox`)
	require.NoError(t, err)
	b.run(t)
	js, err := jetstream.New(b.nats.Conn())
	require.NoError(t, err)
	for _, topic := range []string{"employment_terms", "memberships", "schedules"} {
		payload, err := proto.Marshal(&commonsv1.ProjectionWanted{Topic: topic})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			_, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "rotaloom.commons.projection.wanted", Data: payload, Header: nats.Header{
				bus.HeaderID: {topic}, bus.HeaderTenant: {"1"}, bus.HeaderEvent: {"rotaloom.commons.v1.ProjectionWanted"},
			}})
			return err == nil
		}, 10*time.Second, 10*time.Millisecond)
	}
	persons := map[int64]*timekeepingv1.PersonMemberships{}
	require.Eventually(t, func() bool {
		for _, e := range events[*timekeepingv1.MembershipsChanged](t, b) {
			for _, p := range e.GetPersons() {
				persons[p.GetPersonId()] = p
			}
		}
		return len(persons) == 250 && len(events[*timekeepingv1.EmploymentTermChanged](t, b)) == 1
	}, 20*time.Second, 5*time.Millisecond)
	assertSame(t, &timekeepingv1.EmploymentTermChanged{Id: term, Name: "One", AllowsInheritance: true, Version: 1}, events[*timekeepingv1.EmploymentTermChanged](t, b)[0])
	assertSame(t, &timekeepingv1.PersonMemberships{PersonId: 1250, Version: 1250, Memberships: []*timekeepingv1.Membership{
		{EmploymentTermId: term, From: "2026-01-01", To: "3000-01-01"},
	}}, persons[1250])
	assert.NotContains(t, persons, int64(1))
}
