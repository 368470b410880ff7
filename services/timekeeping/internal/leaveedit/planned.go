package leaveedit

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// shown holds the stored edits without a start for which a request specifies times, and the other
// edits that use time of the same days.
type shown struct {
	of     *leavecase.Case
	rows   []row
	beside map[employeeDay][]row
}

// plan is the data about edits before they are stored.
type plan struct {
	of    *leavecase.Case
	edits []*timekeepingv1.LeaveEdit
	work  map[employeeDay][]*schedulingv1.EmployeeShiftSegment
}

// planEdits prepares edits of a case for storing. It removes times that only repeat the times that
// responses show for an edit without a start, so that such an edit stays without one. The plan
// contains the scheduled work of the days that the edits may need.
func (h *Handler) planEdits(ctx context.Context, ref *commonv1.Ref, sent []*timekeepingv1.LeaveEdit) (*plan, error) {
	before, err := h.readShown(ctx, ref, sent)
	if err != nil {
		return nil, err
	}
	days := untimedDays(before.rows)
	for _, edit := range sent {
		for _, day := range daysIn(edit) {
			if before.of.Days.Contains(day) {
				days = append(days, employeeDay{before.of.EmployeeID, day})
			}
		}
	}
	work, err := h.workOn(ctx, days)
	if err != nil {
		return nil, err
	}
	zone, err := h.zones.Get(before.of.TimeZone())
	if err != nil {
		return nil, err
	}
	known := map[int64]times{}
	for on, edits := range before.beside {
		maps.Copy(known, timesOn(on.day, edits, work[on], zone))
	}
	byID := map[int64]row{}
	for _, r := range before.rows {
		byID[r.id] = r
	}
	out := slices.Clone(sent)
	for i, edit := range sent {
		if r, ok := byID[edit.GetId()]; ok && known[r.id].says(edit) {
			out[i] = proto.CloneOf(edit)
			out[i].StartDateTime, out[i].EndDateTime = "", ""
			out[i].Date = cmp.Or(edit.GetDate(), r.first.String())
		}
	}
	return &plan{of: before.of, edits: out, work: work}, nil
}

func (h *Handler) readShown(ctx context.Context, ref *commonv1.Ref, sent []*timekeepingv1.LeaveEdit) (*shown, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	out := &shown{}
	return out, pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := leavecase.Find(ctx, tx, visible, []*commonv1.Ref{ref}, false)
		if err != nil {
			return err
		}
		stored, err := byIDs(ctx, tx, withTimes(sent))
		if err != nil {
			return err
		}
		out.of, out.rows = found[0], nil
		for _, r := range stored {
			if r.caseID == out.of.ID && r.hasNoStart() {
				out.rows = append(out.rows, r)
			}
		}
		out.beside, err = untimedOn(ctx, tx, untimedDays(out.rows))
		return err
	})
}

// daysIn returns the days that an edit of a request may belong to. It ignores malformed dates,
// which the later validation of the edit reports.
func daysIn(sent *timekeepingv1.LeaveEdit) []civil.Date {
	var days []civil.Date
	if day, err := civil.ParseDate(sent.GetDate()); err == nil {
		days = append(days, day)
	}
	if start, err := civil.ParseDateTime(sent.GetStartDateTime()); err == nil {
		days = append(days, start.Date)
	}
	return days
}

// withTimes returns the ids of the edits that specify their start and end.
func withTimes(sent []*timekeepingv1.LeaveEdit) []int64 {
	var ids []int64
	for _, edit := range sent {
		if edit.Id != nil && edit.GetStartDateTime() != "" && edit.GetEndDateTime() != "" {
			ids = append(ids, edit.GetId())
		}
	}
	return ids
}
