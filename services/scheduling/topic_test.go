package scheduling_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	replicationv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// backfill asks the service, as a copy does, for keys with the versions that the
// copy has.
func (b *fixture) backfill(t *testing.T, topic string, versions map[int64]int64) {
	t.Helper()
	request := &replicationv1.BackfillRequest{TenantId: 1}
	for key, version := range versions {
		request.Gaps = append(request.Gaps, &replicationv1.Gap{Key: key, Version: version})
	}
	response := &replicationv1.BackfillResponse{}
	b.requestOwner(t, topic+".backfill", request, response)
	require.Empty(t, response.GetError())
}

func (b *fixture) requestOwner(t *testing.T, subject string, request, response proto.Message) {
	t.Helper()
	payload, err := proto.Marshal(request)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		reply, err := b.nats.Conn().RequestWithContext(t.Context(), "rotaloom_replica.scheduling."+subject, payload)
		return err == nil && proto.Unmarshal(reply.Data, response) == nil
	}, 20*time.Second, 10*time.Millisecond, "the service responds")
}

func TestTermsAndMembershipsArePublishedOnceMore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "One")
	for i, sql := range []string{
		`INSERT INTO membership_head (tenant_id, employee_id, version) SELECT 1, n, n FROM generate_series(1001, 1250) AS n`,
		`INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
			SELECT 1, n, (SELECT min(id) FROM employment_term), '2026-01-01', '3000-01-01' FROM generate_series(1001, 1250) AS n`,
		`DELETE FROM outbox`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := b.pool.Exec(ctx, sql)
			require.NoError(t, err)
		})
	}
	b.run(t)
	tenants := &replicationv1.TenantsResponse{}
	b.requestOwner(t, "memberships.tenants", &replicationv1.TenantsRequest{}, tenants)
	assert.Equal(t, []int64{1}, tenants.GetTenantIds())

	b.backfill(t, "employment_terms", map[int64]int64{term: 0, term + 1: 4})
	wanted := map[int64]int64{7: 2}
	for id := int64(1001); id <= 1250; id++ {
		wanted[id] = 0
	}
	wanted[1250] = 5000
	b.backfill(t, "memberships", wanted)

	terms := map[int64]*schedulingv1.EmploymentTermChanged{}
	for _, e := range events[*schedulingv1.EmploymentTermChanged](t, b) {
		terms[e.GetId()] = e
	}
	assertSame(t, &schedulingv1.EmploymentTermChanged{Id: term, Name: "One", AllowsInheritance: true, Version: 1}, terms[term])
	assertSame(t, &schedulingv1.EmploymentTermChanged{Id: term + 1, Version: 5, Deleted: true}, terms[term+1])
	persons := map[int64]*schedulingv1.PersonMemberships{}
	for _, e := range events[*schedulingv1.MembershipsChanged](t, b) {
		for _, p := range e.GetPersons() {
			persons[p.GetPersonId()] = p
		}
	}
	require.Len(t, persons, 251)
	assert.EqualValues(t, 1001, persons[1001].GetVersion())
	assertSame(t, &schedulingv1.PersonMemberships{PersonId: 1250, Version: 5001, Memberships: []*schedulingv1.Membership{
		{EmploymentTermId: term, From: "2026-01-01", To: "3000-01-01"},
	}}, persons[1250])
	assertSame(t, &schedulingv1.PersonMemberships{PersonId: 7, Version: 3, Deleted: true}, persons[7])

	var version int64
	require.NoError(t, b.pool.QueryRow(ctx, `SELECT version FROM membership_head WHERE employee_id = 1250`).Scan(&version))
	assert.EqualValues(t, 5001, version, "later changes are later")
}

func TestEventsReachTheBroker(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	term := b.createTerm(t, ctx, "Term")
	_, err := b.upsert(ctx, termsFor(1, nil, on(term, "2024-01-01", "2025-01-01")))
	require.NoError(t, err)
	js, err := jetstream.New(b.nats.Conn())
	require.NoError(t, err)
	for _, subject := range []string{"rotaloom.scheduling.employment_term.changed", "rotaloom.scheduling.membership.changed"} {
		t.Run(subject, func(t *testing.T) {
			require.Eventually(t, func() bool {
				stream, err := js.Stream(t.Context(), "SCHEDULING")
				if err != nil {
					return false
				}
				message, err := stream.GetLastMsgForSubject(t.Context(), subject)
				return err == nil && message.Header.Get(bus.HeaderTenant) == "1"
			}, 10*time.Second, 10*time.Millisecond, subject)
		})
	}
}
