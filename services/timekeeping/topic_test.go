package timekeeping_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	replicationv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
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
		reply, err := b.nats.Conn().RequestWithContext(t.Context(), "rotaloom_replica.timekeeping."+subject, payload)
		return err == nil && proto.Unmarshal(reply.Data, response) == nil
	}, 20*time.Second, 10*time.Millisecond, "the service responds")
}

// Of leave everything is published in steps that follow one another, above what the
// copy has.
func TestLeaveIsPublishedOnceMore(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	c := b.createCase(t, ctx)
	for _, day := range []string{"2026-03-02", "2026-03-03"} {
		t.Run(day, func(t *testing.T) {
			_, err := b.take(ctx, c, "", newEdit(day, 8))
			require.NoError(t, err)
		})
	}
	_, err := b.pool.Exec(ctx, `DELETE FROM outbox`)
	require.NoError(t, err)
	b.run(t)
	steps := func() (out []*timekeepingv1.EmployeeLeaveEdits) {
		for _, e := range events[*timekeepingv1.LeaveEditsChanged](t, b) {
			out = append(out, e.GetEmployees()...)
		}
		return out
	}
	b.backfill(t, "leave_edits", map[int64]int64{1: 1})
	require.Len(t, steps(), 1)
	assert.True(t, steps()[0].GetComplete())
	assert.EqualValues(t, 2, steps()[0].GetVersion())
	assert.Len(t, steps()[0].GetEdits(), 2)

	// Many come in several steps, and a copy that is ahead is overtaken.
	_, err = b.pool.Exec(ctx, `INSERT INTO leave_edit SELECT tenant_id, 1000 + n, leave_case_id, employee_id, from_day, to_day, version, body
		FROM leave_edit, generate_series(1, 149) AS n WHERE from_day = '2026-03-02'`)
	require.NoError(t, err)
	b.backfill(t, "leave_edits", map[int64]int64{1: 40})
	require.Len(t, steps(), 3)
	first, second := steps()[1], steps()[2]
	assert.Equal(t, [2]int64{41, 42}, [2]int64{first.GetVersion(), second.GetVersion()})
	assert.Equal(t, [2]bool{true, false}, [2]bool{first.GetComplete(), second.GetComplete()})
	assert.Equal(t, 151, len(first.GetEdits())+len(second.GetEdits()))

	b.backfill(t, "leave_edits", map[int64]int64{77: 6})
	gone := steps()[3]
	assert.True(t, gone.GetDeleted() && gone.GetComplete())
	assert.EqualValues(t, 7, gone.GetVersion())
}
