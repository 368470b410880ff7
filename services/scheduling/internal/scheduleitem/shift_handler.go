package scheduleitem

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Shifts serves ShiftService.
type Shifts struct {
	schedulingv1.UnsafeShiftServiceServer

	shifts    *itemchange.Editor[*schedulingv1.Shift]
	templates patterndefinition.ShiftSource
}

var _ schedulingv1.ShiftServiceServer = (*Shifts)(nil)

// NewShifts returns the handler of ShiftService.
func NewShifts(deps Deps) *Shifts {
	maxLength := deps.maxShift()
	return &Shifts{templates: deps.Templates, shifts: &itemchange.Editor[*schedulingv1.Shift]{
		Deps: deps.editorDeps(), Kind: itemstore.KindShift, Label: "shift",
		Draft: func(sent *schedulingv1.Shift, employee *projection.Employee) (*itemdraft.Draft, error) {
			return itemdraft.Shift(sent, employee, maxLength)
		},
		Jobs:      jobsOfShift,
		Make:      func() *schedulingv1.Shift { return &schedulingv1.Shift{} },
		Fill:      fillShift,
		Version:   func(sent *schedulingv1.Shift) *int64 { return sent.Version },
		Generated: (*reading.Generated).IsShift,
		Show: func(g *reading.Generated, employee *projection.Employee) (*schedulingv1.Shift, error) {
			return g.Shift(employee.Zone, employee.PrimaryJobOn(g.Day))
		},
		Shown: bodyWithJob(window.KindShift),
		Warn:  func(s *schedulingv1.Shift, added []*schedulingv1.ScheduleRuleViolation) { s.RuleViolations = added },
	}}
}

// jobsOfShift returns the jobs of the segments of a shift.
func jobsOfShift(sent *schedulingv1.Shift) []*commonv1.Ref {
	var jobs []*commonv1.Ref
	for _, s := range sent.GetSegments() {
		jobs = append(jobs, s.GetOrgJobRef())
	}
	return jobs
}

// bodyWithJob returns a function that fills the employee's primary job on the day into a stored
// body.
func bodyWithJob(k window.Kind) func(body []byte, employee *projection.Employee, day civil.Date) ([]byte, error) {
	return func(body []byte, employee *projection.Employee, day civil.Date) ([]byte, error) {
		if job := employee.PrimaryJobOn(day); job.Path != "" {
			return window.BodyWithJob(body, k, window.NewJob(job))
		}
		return body, nil
	}
}

func fillShift(s *schedulingv1.Shift, id int64, employee *projection.Employee, version int64, locked bool) {
	s.Id, s.Version, s.Employee = proto.Int64(id), proto.Int64(version), itemdraft.NewRef(employee)
	s.Locked = proto.Bool(locked || s.GetLocked())
}

// GetShift returns one shift. The contract specifies 400 for an unknown id, unlike other
// operations.
func (h *Shifts) GetShift(ctx context.Context, req *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
	return h.shifts.ReadOne(ctx, req.GetId(), http.StatusBadRequest)
}

// UpdateShift replaces one shift. Without an employee in the request, the shift keeps its employee,
// so that clients can omit it.
func (h *Shifts) UpdateShift(ctx context.Context, req *schedulingv1.UpdateShiftRequest) (*schedulingv1.Shift, error) {
	if req.GetShift() != nil {
		itemdraft.ResolveEmployeeIDs(req.GetShift())
	}
	return h.shifts.Update(ctx, req.GetId(), req.GetShift())
}

// DeleteShift deletes one shift. If a version is given, it must match.
func (h *Shifts) DeleteShift(ctx context.Context, req *schedulingv1.DeleteShiftRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, h.shifts.Remove(ctx, []int64{req.GetId()}, req.Version, http.StatusNotFound)
}

// CreateShift creates one shift.
func (h *Shifts) CreateShift(ctx context.Context, req *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
	return h.create(ctx, []*schedulingv1.Shift{req}, false)
}

// MultiCreateShifts creates shifts: all or none or, with partial success, the valid ones.
func (h *Shifts) MultiCreateShifts(ctx context.Context, req *schedulingv1.MultiCreateShiftsRequest) (*schedulingv1.ShiftList, error) {
	return h.create(ctx, req.GetBody().GetShifts(), req.GetPartialSuccess())
}

func (h *Shifts) create(ctx context.Context, sent []*schedulingv1.Shift, partial bool) (*schedulingv1.ShiftList, error) {
	itemdraft.ResolveEmployeeIDs(sent...)
	done, failure, err := h.shifts.RunBulk(ctx, sent, partial, h.shifts.Create)
	return &schedulingv1.ShiftList{Shifts: done, Failure: failure}, err
}

// MultiUpdateShifts replaces shifts: all or none or, with partial success, the valid ones.
func (h *Shifts) MultiUpdateShifts(ctx context.Context, req *schedulingv1.MultiUpdateShiftsRequest) (*schedulingv1.ShiftList, error) {
	sent := req.GetBody().GetShifts()
	itemdraft.ResolveEmployeeIDs(sent...)
	done, failure, err := h.shifts.RunBulk(ctx, sent, req.GetPartialSuccess(), h.shifts.UpdateMany)
	return &schedulingv1.ShiftList{Shifts: done, Failure: failure}, err
}

// MultiReadShifts returns shifts in the order of the ids. Unknown ids are failures among the
// results.
func (h *Shifts) MultiReadShifts(ctx context.Context, req *schedulingv1.MultiReadShiftsRequest) (*schedulingv1.ShiftList, error) {
	done, failure, err := h.shifts.ReadMany(ctx, "where.shiftIds", req.GetWhere().GetShiftIds())
	return &schedulingv1.ShiftList{Shifts: done, Failure: failure}, err
}

// MultiDeleteShifts deletes shifts, all or none.
func (h *Shifts) MultiDeleteShifts(ctx context.Context, req *schedulingv1.MultiDeleteShiftsRequest) (*emptypb.Empty, error) {
	return h.shifts.RemoveMany(ctx, "where.shiftIds", req.GetWhere().GetShiftIds())
}
