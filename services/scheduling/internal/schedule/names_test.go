package schedule_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// rename gives a tag definition of a tenant another name.
func (f *fixture) rename(tenantID, id int64, former, present string) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(tenant.With(f.Ctx, tenantID), f.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return setupref.KeepFormer(ctx, tx, setupref.TagDefinition, id, former, present)
	}))
}

// Entries of patterns, which are cached, entered tags, and tags of open shifts have the present names of their
// definitions, after each rename, in reads of one employee and of several.
func TestTagsHaveThePresentNamesOfDefinitions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(9, "UTC")
	item := &schedulingv1.SchedulePatternItem{Day: proto.Int32(1), ScheduleTagTemplate: &schedulingv1.ScheduleTagTemplate{
		Segments: []*schedulingv1.ScheduleTagTemplateSegment{{TagDefinition: ref(5, "Warden")}, {TagDefinition: ref(0, "WARDEN")}, {TagDefinition: ref(6, "Warden")}},
	}}
	item.ScheduleTagTemplate.Segments[1].TagDefinition.Id = nil
	f.span(span{employee: 1, from: "2025-03-03", to: "2025-03-04", pattern: f.pattern(cycle(1, item)), own: true})
	f.item(1, 1, "SCHEDULE_TAG", "2025-03-04", "2025-03-04", &schedulingv1.ScheduleTag{
		StartDateTime: "2025-03-04T08:00:00", EndDateTime: "2025-03-04T09:00:00",
		Segments: []*schedulingv1.ScheduleTagSegment{{TagDefinitionRef: ref(5, "Warden")}},
	})
	f.item(2, 0, "SHIFT", "2025-03-03", "2025-03-03", &schedulingv1.Shift{
		StartDateTime: "2025-03-03T08:00:00", EndDateTime: "2025-03-03T16:00:00",
		Segments: []*schedulingv1.ShiftSegment{{SegmentTags: []*schedulingv1.SegmentTag{{TagDefinitionRef: ref(5, "Warden")}}}},
	})
	requireNames := func(want ...string) {
		t.Helper()
		for _, employees := range [][]int64{{1}, {1, 9}} {
			got := f.read(window("2025-03-03", "2025-03-04", []string{"SCHEDULETAGS", "OPENSHIFTS"}, employees...))
			var names []string
			for _, tag := range got.GetScheduleTags().GetScheduleTags() {
				for _, s := range tag.GetSegments() {
					names = append(names, s.GetTagDefinitionRef().GetQualifier())
				}
			}
			for _, s := range got.GetOpenShifts().GetShifts() {
				names = append(names, s.GetSegments()[0].GetSegmentTags()[0].GetTagDefinitionRef().GetQualifier())
			}
			assert.Equal(t, want, names)
		}
	}
	requireNames("Warden", "WARDEN", "Warden", "Warden", "Warden")
	f.rename(tenantID+1, 5, "Warden", "Other")
	requireNames("Warden", "WARDEN", "Warden", "Warden", "Warden")
	f.rename(tenantID, 5, "Warden", "Guard")
	requireNames("Guard", "Guard", "Warden", "Guard", "Guard")
	f.rename(tenantID, 5, "Guard", "Marshal")
	requireNames("Marshal", "Marshal", "Warden", "Marshal", "Marshal")
}
