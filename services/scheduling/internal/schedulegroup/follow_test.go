package schedulegroup_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulegroup"
)

func (w *fixture) rename(t *testing.T, group, name string) {
	t.Helper()
	_, err := w.client.UpdateScheduleGroup(w.Ctx, &schedulingv1.UpdateScheduleGroupRequest{Id: w.ids[group], Body: &schedulingv1.ScheduleGroup{Name: name}})
	require.NoError(t, err)
}

// A new name follows to the persons at once, or later if commons is away or has many persons. Until then no
// other group gets the former name.
func TestPersonsFollowNewNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		down   bool
		slow   bool
		sweeps int
	}{{"at once", false, false, 0}, {"after commons was away", true, false, 1}, {"in several calls", false, true, 3}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.persons.groups, w.persons.down, w.persons.slow = []string{"a", "A", "B"}, c.down, c.slow
			w.rename(t, "A", "Late")
			if c.sweeps > 0 {
				_, err := w.client.CreateScheduleGroup(w.Ctx, &schedulingv1.ScheduleGroup{Name: "a"})
				require.Error(t, err)
				assert.Equal(t, schedulegroup.CodeTaken, fault.FromError(err).Code)
				_, err = pg.Unaudited("a test").Exec(w.Ctx, w.Pool, `UPDATE schedule_group_former_name SET changed_at = '2020-01-01' WHERE tenant_id = 1`)
				require.NoError(t, err)
			}
			w.persons.down = false
			for range c.sweeps {
				if err := w.handler.Sweep(t.Context()); err != nil {
					assert.True(t, c.slow)
				}
			}
			assert.Equal(t, []string{"Late", "Late", "B"}, w.persons.groups)
			_, err := w.client.CreateScheduleGroup(w.Ctx, &schedulingv1.ScheduleGroup{Name: "a"})
			require.NoError(t, err, "no person has the former name now")
		})
	}
}

// A group stays while persons have it, by a name that it has or had.
func TestGroupsOfPersonsStay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	remove := func() error {
		_, err := w.client.DeleteScheduleGroup(w.Ctx, &schedulingv1.DeleteScheduleGroupRequest{Id: w.ids["A"]})
		return err
	}
	refuse := func(say string) {
		t.Helper()
		err := remove()
		require.Error(t, err)
		assert.Equal(t, schedulegroup.CodeInUse, fault.FromError(err).Code)
		assert.Contains(t, err.Error(), say)
	}
	w.persons.groups = []string{"a", "Old"}
	refuse(`The person "P of a" refers to the schedule group "A"`)
	w.persons.down = true
	w.rename(t, "A", "Late")
	w.rename(t, "A", "Old")
	refuse(`Each of 2 persons, such as "P of a", "P of Old", refers to the schedule group "Old"`)
	w.rename(t, "A", "a")
	w.persons.groups = []string{"B"}
	require.NoError(t, remove())
	_, err := w.client.CreateScheduleGroup(w.Ctx, &schedulingv1.ScheduleGroup{Name: "Late"})
	require.NoError(t, err, "the former names are deleted with the group")
}
