package scheduleitem

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// Shifts serves ShiftService.
type Shifts struct {
	schedulingv1.UnsafeShiftServiceServer

	shifts    *itemchange.Family[*schedulingv1.Shift]
	templates patterndefinition.ShiftSource
}

var _ schedulingv1.ShiftServiceServer = (*Shifts)(nil)

// NewShifts returns the handler of ShiftService.
func NewShifts(deps Deps) *Shifts {
	maxLength := deps.maxShift()
	return &Shifts{templates: deps.Templates, shifts: &itemchange.Family[*schedulingv1.Shift]{
		Deps: deps.entries(), Kind: itemstore.KindShift, Label: "shift",
		Draft: func(sent *schedulingv1.Shift, employee *projection.Employee) (*itemdraft.Draft, error) {
			return itemdraft.Shift(sent, employee, maxLength)
		},
		Make:      func() *schedulingv1.Shift { return &schedulingv1.Shift{} },
		Fill:      fillShift,
		Version:   func(sent *schedulingv1.Shift) *int64 { return sent.Version },
		Generated: (*reading.Generated).IsShift,
		Show: func(g *reading.Generated, employee *projection.Employee) (*schedulingv1.Shift, error) {
			return g.Shift(employee.Zone, employee.JobOn(g.Day))
		},
		Shown: withJob(encoding.KindShift),
	}}
}

// withJob returns how a stored body of a kind is shown: with the primary job of its
// employee on its day.
func withJob(k encoding.Kind) func(body []byte, employee *projection.Employee, day civil.Date) ([]byte, error) {
	return func(body []byte, employee *projection.Employee, day civil.Date) ([]byte, error) {
		if path := employee.JobOn(day); path != "" {
			return encoding.BodyWithJob(body, k, encoding.NewJob(path))
		}
		return body, nil
	}
}

func fillShift(s *schedulingv1.Shift, id int64, employee *projection.Employee, version int64, locked bool) {
	s.Id, s.Version, s.Employee = proto.Int64(id), proto.Int64(version), itemdraft.RefOf(employee)
	s.Locked = proto.Bool(locked || s.GetLocked())
}

// GetShift returns one shift. The contract of the operation says 400 for an
// unknown id, where others say 404.
func (h *Shifts) GetShift(ctx context.Context, req *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
	return h.shifts.ReadOne(ctx, req.GetId(), http.StatusBadRequest)
}

// UpdateShift replaces one shift. Sent without an employee it stays with the one
// that has it, so that a client may leave out what it does not change.
func (h *Shifts) UpdateShift(ctx context.Context, req *schedulingv1.UpdateShiftRequest) (*schedulingv1.Shift, error) {
	if req.GetShift() != nil {
		itemdraft.NameEmployees(req.GetShift())
	}
	return h.shifts.Update(ctx, req.GetId(), req.GetShift())
}

// DeleteShift deletes one shift; with a version only that one.
func (h *Shifts) DeleteShift(ctx context.Context, req *schedulingv1.DeleteShiftRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, h.shifts.Remove(ctx, []int64{req.GetId()}, req.Version, http.StatusNotFound)
}

// CreateShift creates one shift.
func (h *Shifts) CreateShift(ctx context.Context, req *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
	return h.create(ctx, []*schedulingv1.Shift{req}, false)
}

// MultiCreateShifts creates shifts, all or none; with partial success those
// that can be.
func (h *Shifts) MultiCreateShifts(ctx context.Context, req *schedulingv1.MultiCreateShiftsRequest) (*schedulingv1.ShiftList, error) {
	return h.create(ctx, req.GetBody().GetShifts(), req.GetPartialSuccess())
}

func (h *Shifts) create(ctx context.Context, sent []*schedulingv1.Shift, partial bool) (*schedulingv1.ShiftList, error) {
	itemdraft.NameEmployees(sent...)
	done, failure, err := h.shifts.RunBulk(ctx, sent, partial, h.shifts.Create)
	return &schedulingv1.ShiftList{Shifts: done, Failure: failure}, err
}

// MultiUpdateShifts replaces shifts, all or none; with partial success those that
// can be.
func (h *Shifts) MultiUpdateShifts(ctx context.Context, req *schedulingv1.MultiUpdateShiftsRequest) (*schedulingv1.ShiftList, error) {
	sent := req.GetBody().GetShifts()
	itemdraft.NameEmployees(sent...)
	done, failure, err := h.shifts.RunBulk(ctx, sent, req.GetPartialSuccess(), h.shifts.UpdateMany)
	return &schedulingv1.ShiftList{Shifts: done, Failure: failure}, err
}

// MultiReadShifts returns shifts in the order of the ids. Ids that name nothing
// are failures among the results.
func (h *Shifts) MultiReadShifts(ctx context.Context, req *schedulingv1.MultiReadShiftsRequest) (*schedulingv1.ShiftList, error) {
	done, failure, err := h.shifts.ReadMany(ctx, "where.shiftIds", req.GetWhere().GetShiftIds())
	return &schedulingv1.ShiftList{Shifts: done, Failure: failure}, err
}

// MultiDeleteShifts deletes shifts, all or none.
func (h *Shifts) MultiDeleteShifts(ctx context.Context, req *schedulingv1.MultiDeleteShiftsRequest) (*emptypb.Empty, error) {
	return h.shifts.RemoveMany(ctx, "where.shiftIds", req.GetWhere().GetShiftIds())
}
