package timekeeping_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// A punch on a day after a termination is refused by itself, by the copy of persons that
// events keep.
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
