package scheduleitem_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func (f *fixture) newTag(employee int64, start, end string) *schedulingv1.ScheduleTag {
	f.t.Helper()
	_, err := f.definitions.CreateTagDefinition(f.Ctx, &schedulingv1.TagDefinition{
		Name: "On call", AssignmentContexts: []*commonv1.Ref{{Qualifier: proto.String("SCHEDULE")}},
	})
	if err != nil {
		requireRefused(f.t, err, "WRL-30903", 400) // Another tag has made it.
	}
	return &schedulingv1.ScheduleTag{
		Employee: person(employee), StartDateTime: start + ":00", EndDateTime: end + ":00",
		Segments: []*schedulingv1.ScheduleTagSegment{{TagDefinitionRef: &commonv1.Ref{Qualifier: proto.String("on call")}}},
	}
}

// A tag is none of the entries that others keep copies of, nor a shift of its day.
func TestTagsAreNotPublished(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.events()
	made, err := f.tags.CreateScheduleTag(f.Ctx, f.newTag(2, "2025-03-03T08:00", "2025-03-03T16:00"))
	require.NoError(t, err)
	id := made.GetScheduleTags()[0].GetId()
	assert.Equal(t, []string{"P1 08:00 16:00", "P1 Training"}, f.day("2025-03-03"))
	requireRefused(t, f.remove(id), "WFS-109101", 404)

	changed := f.newTag(1, "2025-03-04T08:00", "2025-03-05T08:00")
	_, err = f.tags.UpdateScheduleTag(f.Ctx, &schedulingv1.UpdateScheduleTagRequest{Id: id, ScheduleTag: changed})
	require.NoError(t, err)
	_, err = f.tags.DeleteScheduleTag(f.Ctx, &schedulingv1.DeleteScheduleTagRequest{Id: id, Version: proto.Int64(1)})
	requireRefused(t, err, "WFP-90004", 409)
	_, err = f.tags.DeleteScheduleTag(f.Ctx, &schedulingv1.DeleteScheduleTagRequest{Id: id, Version: proto.Int64(2)})
	require.NoError(t, err)
	var published, past int
	require.NoError(t, f.Pool.QueryRow(f.Ctx, `SELECT count(*) FROM outbox WHERE event LIKE '%ShiftsEntered'`).Scan(&published))
	assert.Zero(t, published)
	require.NoError(t, f.Pool.QueryRow(f.Ctx, `SELECT count(*) FROM schedule_item_past WHERE kind = 'SCHEDULE_TAG'`).Scan(&past))
	assert.Equal(t, 2, past, "what it was is kept")
	assert.Equal(t, []string{"[2] 2025-03-03 2025-03-03", "[1 2] 2025-03-03 2025-03-05", "[1] 2025-03-04 2025-03-05"}, f.events())
}
