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
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// rename gives an object of a tenant another name.
func (f *fixture) rename(tenantID int64, kind setupref.Property, id int64, former, present string) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(tenant.With(f.Ctx, tenantID), f.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return setupref.KeepFormer(ctx, tx, kind, id, former, present)
	}))
}

// readSettled reads the schedule as of the last settled instant.
func (f *fixture) readSettled(req *schedulingv1.MultiReadScheduleRequest) *schedulingv1.Schedule {
	f.t.Helper()
	at, err := f.reader.SettledTime(f.Ctx)
	require.NoError(f.t, err)
	req = proto.CloneOf(req)
	req.MultiReadOptions = &schedulingv1.MultiReadOptions{AsOfDateTime: request.FormatInstant(at)}
	return f.read(req)
}

// Entries of patterns, which are cached, entered tags, and tags of open shifts have the present names of their
// definitions, after each rename, in reads of one employee and of several, and in reads as of an instant.
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
			req := window("2025-03-03", "2025-03-04", []string{"SCHEDULETAGS", "OPENSHIFTS"}, employees...)
			for _, got := range []*schedulingv1.Schedule{f.read(req), f.readSettled(req)} {
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
	}
	requireNames("Warden", "WARDEN", "Warden", "Warden", "Warden")
	f.rename(tenantID+1, setupref.TagDefinition, 5, "Warden", "Other")
	requireNames("Warden", "WARDEN", "Warden", "Warden", "Warden")
	f.rename(tenantID, setupref.TagDefinition, 5, "Warden", "Guard")
	requireNames("Guard", "Guard", "Warden", "Guard", "Guard")
	f.rename(tenantID, setupref.TagDefinition, 5, "Guard", "Marshal")
	requireNames("Marshal", "Marshal", "Warden", "Marshal", "Marshal")
}

// Entered and generated shifts and pay code edits have the present names of work rules and pay codes, on locked
// days, and in reads as of an instant, too.
func TestEntriesHaveThePresentNamesOfSetup(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	work := shift(1, "06:00", "14:00", segment("06:00", "14:00", regular()))
	work.ShiftTemplate.Segments[0].WorkRule = ref(7, "Nights")
	edit := &schedulingv1.SchedulePatternItem{Day: proto.Int32(1), PayCodeEditTemplate: &schedulingv1.PayCodeEditTemplate{
		PayCode: &commonv1.Ref{Qualifier: proto.String("SICK")}, StartDateTime: at(1, "06:00"), DurationInTime: proto.Int64(3600), TransferString: ";nights;",
	}}
	f.span(span{employee: 1, from: "2025-03-03", to: "2025-03-04", pattern: f.pattern(cycle(1, work, edit)), own: true})
	f.item(1, 1, "SHIFT", "2025-03-04", "2025-03-04", &schedulingv1.Shift{
		StartDateTime: "2025-03-04T08:00:00", EndDateTime: "2025-03-04T16:00:00",
		Segments: []*schedulingv1.ShiftSegment{{WorkruleRef: &commonv1.Ref{Qualifier: proto.String("nights")}, TransferString: ";Nights"}},
	})
	f.item(2, 1, "PAY_CODE_EDIT", "2025-03-04", "2025-03-04", &schedulingv1.PayCodeEdit{
		PayCodeRef: ref(5, "Sick"), WorkruleRef: ref(7, "Nights"), StartDate: "2025-03-04", EndDate: "2025-03-04",
	})
	f.lock(1, "2025-03-04", "2025-03-05")
	requireNames := func(want ...string) {
		t.Helper()
		req := window("2025-03-03", "2025-03-04", []string{"SHIFTS", "PAYCODEEDITS"}, 1)
		for _, got := range []*schedulingv1.Schedule{f.read(req), f.readSettled(req)} {
			var names []string
			for _, s := range got.GetShifts().GetShifts() {
				names = append(names, s.GetSegments()[0].GetWorkruleRef().GetQualifier()+s.GetSegments()[0].GetTransferString())
			}
			for _, e := range got.GetPayCodeEdits().GetPayCodeEdits() {
				names = append(names, e.GetPayCodeRef().GetQualifier()+" "+e.GetWorkruleRef().GetQualifier()+e.GetTransferString())
			}
			assert.Equal(t, want, names)
		}
	}
	requireNames("Nights", "nights;Nights", "SICK ;nights;", "Sick Nights")
	f.rename(tenantID, setupref.WorkRule, 7, "Nights", "Late")
	requireNames("Late", "Late;Late", "SICK ;Late;", "Sick Late")
	f.rename(tenantID, setupref.PayCode, 5, "Sick", "Illness")
	requireNames("Late", "Late;Late", "Illness ;Late;", "Illness Late")
}
