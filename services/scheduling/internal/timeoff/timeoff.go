// Package timeoff keeps requests for time off: employees submit and retract them,
// managers decide on them. What is approved stands on the schedule as pay code edits
// that cover the shifts of their days, until it is cancelled.
package timeoff

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule"
)

// Directory finds employees, as [projection.Resolver] does.
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
	EmployeesByList(ctx context.Context, list *commonv1.RefList) ([]projection.Employee, error)
	CountEmployees(ctx context.Context) (int, error)
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Schedules put time off on schedules, and take it off again, in the transaction of
// the request.
type Schedules interface {
	Cover(ctx context.Context, tx pgx.Tx, tenantID int64, employee *projection.Employee, edits []*schedulingv1.PayCodeEdit) ([]int64, error)
	Uncover(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) error
}

// Subtypes are the request subtypes of time off.
type Subtypes interface {
	// TimeOff returns the one with an id or, without one, a name.
	TimeOff(ctx context.Context, id *int64, name string) (*schedulingv1.TimeOffRequestSubtype, error)
	// AllTimeOff returns all by name, in the language of the caller.
	AllTimeOff(ctx context.Context) ([]*schedulingv1.TimeOffRequestSubtype, error)
}

// Accruals returns what employees have left of what they were granted.
type Accruals interface {
	ReadAccrualBalances(context.Context, *timekeepingv1.ReadAccrualBalancesRequest, ...grpc.CallOption) (*timekeepingv1.ReadAccrualBalancesResponse, error)
}

// Deps is what the handlers work with.
type Deps struct {
	Pool      *pg.Pool
	Directory Directory
	Schedules Schedules
	Subtypes  Subtypes
	Commons   schedule.Commons
	Accruals  Accruals
	Clock     clock.Clock
	// Wake is called after a change was committed that has an event.
	Wake func()
}

// requests is what both sides have in common.
type requests struct {
	Deps
	by side
}

// create stores a request of an employee with a status.
func (h *requests) create(ctx context.Context, employee *projection.Employee, given *schedulingv1.TimeOffRequest, subtype *schedulingv1.TimeOffRequestSubtype, as status) (*schedulingv1.TimeOffRequest, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	request, days, err := prepare(given, subtype)
	if err != nil {
		return nil, err
	}
	request.Creator = h.creator(ctx, employee)
	request.CreateDateTime = employee.Zone.At(h.Clock.Now()).String()
	request.RequestStatusChanges = []*schedulingv1.RequestStatusChange{h.changed(ctx, employee, 0, submitted)}
	if as != submitted {
		request.RequestStatusChanges = append(request.RequestStatusChanges, h.changed(ctx, employee, submitted, as))
	}
	made := &row{employeeID: employee.ID, status: as, subtypeID: subtype.GetId(), request: request}
	made.first, made.last = extent(days)
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := employeelock.Lock(ctx, tx, tenantID, []int64{employee.ID}); err != nil {
			return err
		}
		if err := h.free(ctx, tx, tenantID, made, days); err != nil {
			return err
		}
		if err := h.syncSchedule(ctx, tx, tenantID, employee, made, 0); err != nil {
			return err
		}
		return insert(ctx, tx, tenantID, made)
	})
	if err != nil {
		return nil, err
	}
	h.Wake()
	return h.present(ctx, made, employee), rpc.SetVersion(ctx, made.version)
}

// free refuses a request when the employee has another one on one of its days, and
// one of both takes all of the day.
func (h *requests) free(ctx context.Context, tx pgx.Tx, tenantID int64, made *row, days []civil.Range) error {
	others, err := byEmployee(ctx, tx, tenantID, []int64{made.employeeID}, active, civil.Through(made.first, made.last))
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.id == made.id {
			continue
		}
		for _, p := range other.request.GetPeriods() {
			of, err := daysOf("periods", p.GetStartDate(), p.GetEndDate())
			if err != nil {
				return err
			}
			for i, d := range days {
				if d.Overlaps(of) && (whole(p) || whole(made.request.Periods[i])) {
					return fault.Invalid(CodeInconsistent, fmt.Sprintf("The employee has the request %d for time off from %s to %s already.", other.id, p.GetStartDate(), p.GetEndDate()))
				}
			}
		}
	}
	return nil
}

// syncSchedule makes the schedule fit the status of a request, which was another one before.
func (h *requests) syncSchedule(ctx context.Context, tx pgx.Tx, tenantID int64, employee *projection.Employee, r *row, before status) error {
	switch {
	case r.status.covers() && !before.covers():
		list, err := edits(r.request)
		if err != nil {
			return err
		}
		r.items, err = h.Schedules.Cover(ctx, tx, tenantID, employee, list)
		r.request.ApprovalPeriods = r.request.GetPeriods()
		return err
	case before.covers() && !r.status.covers():
		if err := h.Schedules.Uncover(ctx, tx, tenantID, r.items); err != nil {
			return err
		}
		r.items, r.request.ApprovalPeriods = nil, nil
	}
	return nil
}

// change changes the status of a request.
func (h *requests) change(ctx context.Context, req *schedulingv1.ApplyUpdateTimeOffRequest) (*schedulingv1.TimeOffRequest, error) {
	do, where := req.GetChangeState().GetDo(), req.GetChangeState().GetWhere()
	if do.GetToStatus() == nil {
		return nil, missing("changeState.do.toStatus")
	}
	if where.GetTimeOffRequestId() == 0 {
		return nil, missing("changeState.where.timeOffRequestId")
	}
	to, err := statusOf(do.GetToStatus())
	if err != nil {
		return nil, err
	}
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	seen, employee, err := h.find(ctx, tenantID, where.GetTimeOffRequestId(), http.StatusBadRequest)
	if err != nil {
		return nil, err
	}
	cancelsItself := false
	if subtype, err := h.Subtypes.TimeOff(ctx, &seen.subtypeID, ""); err == nil {
		cancelsItself = subtype.GetAutomaticApprovalForCancellation()
	}
	var changed *row
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := employeelock.Lock(ctx, tx, tenantID, []int64{seen.employeeID}); err != nil {
			return err
		}
		r, err := forUpdate(ctx, tx, tenantID, seen.id)
		if err != nil {
			return err
		}
		if r == nil {
			return unknown(http.StatusBadRequest, seen.id)
		}
		before := r.status
		if r.status, err = next(h.by, before, to, cancelsItself); err != nil {
			return err
		}
		r.request.CommentNotes = append(r.request.CommentNotes, do.GetCommentNotes()...)
		r.request.RequestStatusChanges = append(r.request.RequestStatusChanges, h.changed(ctx, employee, before, r.status))
		if size := proto.Size(r.request); size > 2*maxBytes {
			return invalid("changeState.do.commentNotes", "must be shorter: the request would have %d bytes", size)
		}
		if err := h.syncSchedule(ctx, tx, tenantID, employee, r, before); err != nil {
			return err
		}
		changed = r
		return update(ctx, tx, tenantID, r)
	})
	if err != nil {
		return nil, err
	}
	h.Wake()
	return h.present(ctx, changed, employee), nil
}

// find returns a request that the caller may see, with its employee, or an error of
// the status.
func (h *requests) find(ctx context.Context, tenantID, id int64, missing int) (*row, *projection.Employee, error) {
	visible, err := h.visible(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, err := byID(ctx, h.Pool, tenantID, []int64{id})
	if err != nil {
		return nil, nil, err
	}
	r := found[id]
	if r == nil || !visible.Has(r.employeeID) {
		if r != nil {
			authn.NoteNotVisible(ctx)
		}
		return nil, nil, unknown(missing, id)
	}
	if refused := visible.RefuseOwn(r.employeeID); refused != nil {
		return nil, nil, refused
	}
	employees, err := h.Directory.Employees(ctx, []*commonv1.Ref{{Id: proto.Int64(r.employeeID)}})
	if err != nil {
		return nil, nil, err
	}
	return r, &employees[0], nil
}

// visible returns whose requests the caller may see on this side.
func (h *requests) visible(ctx context.Context) (rowvisibility.Set, error) {
	if h.by == managerSide {
		return h.Directory.Visible(ctx)
	}
	if p, ok := authn.From(ctx); ok && p.PersonID > 0 {
		return rowvisibility.Persons(p.PersonID), nil
	}
	return rowvisibility.Set{}, nil
}

func unknown(status int, id int64) error {
	return fault.Newf(patterndefinition.CodeUnknown, status, "There is no request for time off with the id %d.", id)
}

func isCaller(ctx context.Context, employeeID int64) bool {
	p, ok := authn.From(ctx)
	return ok && p.PersonID == employeeID
}

// changed is the note of a change that the caller makes now.
func (h *requests) changed(ctx context.Context, employee *projection.Employee, from, to status) *schedulingv1.RequestStatusChange {
	out := &schedulingv1.RequestStatusChange{
		ChangeDateTime: employee.Zone.At(h.Clock.Now()).String(), ToStatus: to.message(),
	}
	if from != 0 {
		out.FromStatus = from.message()
	}
	if p, ok := authn.From(ctx); ok {
		out.PersonName = p.Subject
	}
	return out
}

// creator is how responses name who makes a request: a person by their number, where
// it is known here, and otherwise by the user name.
func (h *requests) creator(ctx context.Context, employee *projection.Employee) *commonv1.Ref {
	p, ok := authn.From(ctx)
	switch {
	case !ok:
		return nil
	case p.PersonID == employee.ID:
		return refOf(employee)
	case p.PersonID > 0:
		ref := &commonv1.Ref{Id: proto.Int64(p.PersonID)}
		if persons, err := h.Directory.Employees(authn.WithoutOwnRecord(ctx), []*commonv1.Ref{ref}); err == nil {
			return refOf(&persons[0])
		}
		ref.Qualifier = proto.String(p.Subject)
		return ref
	}
	return &commonv1.Ref{Qualifier: proto.String(p.Subject)}
}

func refOf(e *projection.Employee) *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.PersonNumber)}
}

// present returns a request as responses show it.
func (h *requests) present(ctx context.Context, r *row, employee *projection.Employee) *schedulingv1.TimeOffRequest {
	out := proto.CloneOf(r.request)
	out.Id, out.Employee = proto.Int64(r.id), refOf(employee)
	out.CurrentStatus = r.status.message()
	if h.by == employeeSide || !isCaller(ctx, r.employeeID) {
		out.NextValidStatuses = messages(steps[h.by][r.status])
	}
	out.Historical = proto.Bool(r.last < employee.Zone.At(h.Clock.Now()).Date)
	return out
}
