package timekeeping_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// A punch on a day after a termination is refused alone; the others are imported. The copy of
// persons that events keep decides.
func TestPunchesEndWithTheEmployment(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	bustest.Publish(t, b.nats.Conn(), &commonsv1.PersonsChanged{Persons: []*commonsv1.PersonState{{
		PersonId: 500, PersonNumber: "LEFT", Version: 1, TimeZone: "Europe/Berlin",
		Terminated: []*commonsv1.PersonDays{{From: "2026-03-05", To: "2026-03-08"}, {From: "2026-06-01", To: "3000-01-01"}},
	}}})
	require.Eventually(t, func() bool {
		var known bool
		return b.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM person WHERE tenant_id = 1 AND id = 500)`).Scan(&known) == nil && known
	}, 10*time.Second, 5*time.Millisecond)
	request, want := &timekeepingv1.ImportPunchesRequest{}, []string{}
	for _, p := range [][2]string{
		{"2026-03-04T22:00:00", ""},
		{"2026-03-05T06:00:00", ""},
		{"2026-03-05T14:00:00", "WRL-20708"},
		{"2026-03-07T08:00:00", "WRL-20708"},
		{"2026-03-08T08:00:00", ""},
		{"2026-06-02T08:00:00", "WRL-20708"},
	} {
		request.Punches = append(request.Punches, &timekeepingv1.Punch{Employee: ref("LEFT"), PunchDtm: p[0]})
		want = append(want, p[1])
	}
	response, err := b.punches.ImportPunches(ctx, request)
	require.NoError(t, err)
	var got []string
	for _, p := range response.GetPunches() {
		got = append(got, p.GetTkError().GetErrorCode())
	}
	assert.Equal(t, want, got)
}

// A punch with an unknown job is refused alone; an id is stored as the path of its location.
func TestPunchesNameJobs(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	request, want := &timekeepingv1.ImportPunchesRequest{}, []string{}
	for i, c := range []struct {
		punch *timekeepingv1.Punch
		code  string
	}{
		{&timekeepingv1.Punch{OrgJob: ref("A/Cook")}, ""},
		{&timekeepingv1.Punch{OrgJob: &commonv1.Ref{Id: new(int64(5)), Qualifier: new("Elsewhere")}}, ""},
		{&timekeepingv1.Punch{Transfer: &timekeepingv1.PunchTransfer{OrgJobId: new(int64(5))}}, ""},
		{&timekeepingv1.Punch{Transfer: &timekeepingv1.PunchTransfer{TransferString: "A/Cook;;"}}, ""},
		{&timekeepingv1.Punch{Transfer: &timekeepingv1.PunchTransfer{TransferString: "A/Nothing;;"}}, "WRL-20710"},
		{&timekeepingv1.Punch{Transfer: &timekeepingv1.PunchTransfer{OrgJob: ref("A/cook")}}, "WRL-20710"},
		{&timekeepingv1.Punch{OrgJob: &commonv1.Ref{Id: new(int64(6)), Qualifier: new("A/Cook")}}, "WRL-20710"},
		{&timekeepingv1.Punch{OrgJob: &commonv1.Ref{Id: new(int64(-5))}}, "WRL-20710"},
		{&timekeepingv1.Punch{}, ""},
	} {
		c.punch.Employee, c.punch.PunchDtm = ref("P1"), fmt.Sprintf("2026-03-02T%02d:00:00", i+1)
		request.Punches, want = append(request.Punches, c.punch), append(want, c.code)
	}
	response, err := b.punches.ImportPunches(ctx, request)
	require.NoError(t, err)
	var got []string
	for _, p := range response.GetPunches() {
		got = append(got, p.GetTkError().GetErrorCode())
	}
	assert.Equal(t, want, got)
	var jobs []string
	require.NoError(t, b.pool.QueryRow(ctx, `SELECT array_agg(job ORDER BY at) FROM punch WHERE tenant_id = 1`).Scan(&jobs))
	assert.Equal(t, []string{"A/Cook", "A/Cook", "A/Cook", "A/Cook", ""}, jobs)
}
