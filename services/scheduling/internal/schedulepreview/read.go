package schedulepreview

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/decider"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// employeeDays limits the employees of a page multiplied by the days of the window.
var employeeDays = policy.FindLimit[*schedulingv1.SchedulePreviewWhere]("employees * days")

// defaultCount is the default number of employees on a page.
const defaultCount = 100

// GetSchedulePreview returns a preview of the caller with its present state.
func (h *Handler) GetSchedulePreview(ctx context.Context, req *schedulingv1.GetSchedulePreviewRequest) (*schedulingv1.SchedulePreview, error) {
	r, err := readRow(ctx, h.deps.Pool, req.GetId(), false)
	if err != nil {
		return nil, err
	}
	m, err := r.message()
	if err != nil {
		return nil, err
	}
	switch {
	case r.applied:
		m.State = stateApplied
		return m, nil
	case !h.deps.Clock.Now().Before(r.expiresAt):
		m.State = stateExpired
		return m, nil
	}
	later, err := r.basis.findLaterChange(ctx, h.deps.Pool)
	if err != nil || later == nil {
		m.State = stateReady
		return m, err
	}
	visible, err := h.deps.Visible(rowvisibility.OnDays(ctx, r.basis.days))
	if err != nil {
		return nil, err
	}
	m.State, m.MadeStaleBy = stateStale, later.message(visible)
	if later.at == nil {
		return m, nil
	}
	users, err := decider.Read(ctx, h.deps.Pool, *later.at)
	m.MadeStaleBy.DecidedBy = users.Of(*later.at)
	return m, err
}

// selection lists the parts of employees that a page shows.
type selection struct{ spans, days bool }

func readSelection(names []string) selection {
	if len(names) == 0 {
		return selection{spans: true, days: true}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	return selection{spans: has("SPANS"), days: has("DAYS")}
}

// MultiReadSchedulePreview returns a page of the employees whose schedules a preview changes.
func (h *Handler) MultiReadSchedulePreview(ctx context.Context, req *schedulingv1.MultiReadSchedulePreviewRequest) (*schedulingv1.SchedulePreviewPage, error) {
	after, err := cursor.Read[int64](req)
	if err != nil {
		return nil, err
	}
	r, err := readRow(ctx, h.deps.Pool, req.GetWhere().GetId(), false)
	if err != nil {
		return nil, err
	}
	count := defaultCount
	if req.Count != nil {
		count = int(req.GetCount())
	}
	selected := readSelection(req.GetSelect())
	if selected.days {
		if err := employeeDays.Check(count * r.basis.days.Days()); err != nil {
			return nil, err
		}
	}
	p := &page{selected: selected, count: count, ids: req.GetWhere().GetEmployeeIds()}
	if after != nil && after.After != nil {
		p.after = *after.After
	}
	if err := h.readPage(ctx, r, p); err != nil {
		return nil, err
	}
	out := &schedulingv1.SchedulePreviewPage{Employees: &schedulingv1.PreviewedEmployeeList{Employees: p.list}}
	if p.more {
		if after == nil {
			if after, err = cursor.Read[int64](firstPage(req)); err != nil {
				return nil, err
			}
		}
		last := p.list[len(p.list)-1].GetEmployee().GetId()
		next := after.Next(last)
		out.Next = &next
	}
	return out, nil
}

// firstPage returns a request with the cursor of the first page.
func firstPage(req *schedulingv1.MultiReadSchedulePreviewRequest) *schedulingv1.MultiReadSchedulePreviewRequest {
	out := proto.CloneOf(req)
	out.After = proto.String("")
	return out
}

// page collects the employees of a response.
type page struct {
	selected selection
	count    int
	ids      []int64 // the requested employees; empty means all
	after    int64
	list     []*schedulingv1.PreviewedEmployee
	more     bool
}

// readPage computes the change of a preview again, for the employees of a page.
func (h *Handler) readPage(ctx context.Context, r *row, p *page) error {
	req := &schedulingv1.CreateSchedulePreviewRequest{}
	if err := proto.Unmarshal(r.request, req); err != nil {
		return fmt.Errorf("schedulepreview: decode request of preview %d: %w", r.id, err)
	}
	switch {
	case r.applied:
		return appliedFault()
	case !h.deps.Clock.Now().Before(r.expiresAt):
		return expiredFault()
	}
	visible, err := h.deps.Visible(rowvisibility.OnAnyDay(ctx))
	if err != nil {
		return err
	}
	decide, _, err := h.propose(ctx, req)
	if err != nil {
		return err
	}
	return pg.InSnapshot(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		later, err := r.basis.findLaterChange(ctx, tx)
		if err != nil {
			return err
		}
		if later != nil {
			return staleFault()
		}
		proposed, err := decide(ctx, tx)
		if err != nil {
			return err
		}
		c, err := newComputation(tx, h.deps.Reader, r.basis.days, proposed)
		if err != nil {
			return err
		}
		employees, err := visibleEmployees(ctx, tx, proposed, visible, r.basis.days)
		if err != nil {
			return err
		}
		return p.collect(ctx, tx, c, employees)
	})
}

// collect adds the changed employees after the cursor until the page is full.
func (p *page) collect(ctx context.Context, tx pgx.Tx, c *computation, employees []int64) error {
	p.list, p.more = nil, false
	employees = slices.DeleteFunc(employees, func(id int64) bool {
		return id <= p.after || len(p.ids) > 0 && !slices.Contains(p.ids, id)
	})
	for part := range slices.Chunk(employees, p.count) {
		err := c.computeEach(ctx, part, func(e *employeeChange) error {
			switch {
			case !e.IsChanged():
			case len(p.list) == p.count:
				p.more = true
			default:
				p.list = append(p.list, p.newEmployee(e))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if p.more {
			break
		}
	}
	persons := make([]*commonv1.Ref, len(p.list))
	for i, e := range p.list {
		persons[i] = e.GetEmployee()
	}
	return addNumbers(ctx, tx, persons)
}

// addNumbers adds the person numbers to references to employees.
func addNumbers(ctx context.Context, db pg.Querier, persons []*commonv1.Ref) error {
	byID := make(map[int64][]*commonv1.Ref, len(persons))
	for _, p := range persons {
		byID[p.GetId()] = append(byID[p.GetId()], p)
	}
	var id int64
	var number string
	err := pg.ForEach(ctx, db, []any{&id, &number}, func() error {
		for _, p := range byID[id] {
			p.Qualifier = proto.String(number)
		}
		return nil
	}, `SELECT id, person_number FROM employee WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), slices.Collect(maps.Keys(byID)))
	if err != nil {
		return fmt.Errorf("schedulepreview: read person numbers: %w", err)
	}
	return nil
}

func (p *page) newEmployee(e *employeeChange) *schedulingv1.PreviewedEmployee {
	return &schedulingv1.PreviewedEmployee{
		Employee: &commonv1.Ref{Id: proto.Int64(e.EmployeeID)},
		Before:   p.newSchedule(e.Without.Spans, e.before), After: p.newSchedule(e.With.Spans, e.after),
	}
}

func (p *page) newSchedule(spans []span.Span, shifts []reading.PlannedShift) *schedulingv1.PreviewedSchedule {
	out := &schedulingv1.PreviewedSchedule{}
	if p.selected.spans {
		for i := range spans {
			out.Spans = append(out.Spans, spanMessage(&spans[i]))
		}
	}
	if !p.selected.days {
		return out
	}
	for len(shifts) > 0 {
		var day []reading.PlannedShift
		day, shifts = cutDay(shifts)
		m := &schedulingv1.PreviewedDay{Date: day[0].Day.String()}
		for i := range day {
			m.Shifts = append(m.Shifts, shiftMessage(&day[i]))
		}
		out.Days = append(out.Days, m)
	}
	return out
}

func spanMessage(s *span.Span) *schedulingv1.PreviewedSpan {
	m := &schedulingv1.PreviewedSpan{
		StartDate: s.From.String(), CycleDay: proto.Int32(s.Position + 1), DayCount: proto.Int32(s.DayCount), Inherited: proto.Bool(s.Inherited),
	}
	if s.To < civil.Forever {
		m.EndDate = s.To.AddDays(-1).String()
	}
	if s.AssignmentID > 0 {
		m.SchedulePatternAssignmentId = proto.Int64(s.AssignmentID)
	}
	return m
}

func shiftMessage(s *reading.PlannedShift) *schedulingv1.PreviewedShift {
	return &schedulingv1.PreviewedShift{
		StartDateTime: segment.DateTime(s.Start).String(), EndDateTime: segment.DateTime(s.End).String(), Label: s.Label,
		Seconds: proto.Int64(s.Seconds), Generated: proto.Bool(s.Generated),
	}
}
