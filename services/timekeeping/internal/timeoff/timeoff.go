// Package timeoff keeps requests for time off. Employees submit and retract requests, and managers
// decide them. Approved requests are on the schedule until they are cancelled, as pay code edits
// that cover the shifts of their days.
package timeoff

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/employeesearch"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff/handover"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Subtypes finds the request subtypes of time off.
type Subtypes interface {
	// TimeOff returns the subtype with an id or, without one, a name.
	TimeOff(ctx context.Context, id *int64, name string) (*timekeepingv1.TimeOffRequestSubtype, error)
	// AllTimeOff returns all subtypes by name, in the language of the caller.
	AllTimeOff(ctx context.Context) ([]*timekeepingv1.TimeOffRequestSubtype, error)
}

// Accruals reads the accrual balances of employees.
type Accruals interface {
	Balances(ctx context.Context, employeeID int64, day civil.Date) ([]accrual.Balance, error)
	// Cover returns an error if the balances do not cover the deductions; see
	// [accrual.Reader.Cover].
	Cover(ctx context.Context, employeeID int64, wanted []accrual.Wanted, until civil.Date) error
}

// Deps are the dependencies of the handlers.
type Deps struct {
	Pool    *pg.Pool
	Persons Persons
	// Days reads the locked days.
	Days schedulingv1.EmployeeDayServiceClient
	// Handover changes requests together with the schedule.
	Handover *handover.Handover
	Subtypes Subtypes
	Commons  employeesearch.Commons
	Accruals Accruals
	// Room calculates how much leave days can have.
	Room  *leaveday.Reader
	Clock clock.Clock
}

// requests implements the operations of both sides.
type requests struct {
	Deps
	directory *directory
	by        side
}

func newRequests(deps Deps, by side) requests {
	return requests{Deps: deps, directory: &directory{persons: deps.Persons}, by: by}
}

// create stores a request of an employee with a status.
func (h *requests) create(ctx context.Context, employee *employee, given *timekeepingv1.TimeOffRequest, subtype *timekeepingv1.TimeOffRequestSubtype, as status) (*timekeepingv1.TimeOffRequest, error) {
	request, days, err := prepare(given, subtype)
	if err != nil {
		return nil, err
	}
	request.Creator = h.creator(ctx, employee)
	request.CreateDateTime = employee.Clocks.At(clock.OfTenant(ctx, h.Clock.Now())).String()
	request.RequestStatusChanges = []*timekeepingv1.RequestStatusChange{h.newStatusChange(ctx, employee, 0, submitted)}
	if as != submitted {
		request.RequestStatusChanges = append(request.RequestStatusChanges, h.newStatusChange(ctx, employee, submitted, as))
	}
	made := &row{employeeID: employee.ID, status: as, subtypeID: subtype.GetId(), request: request}
	made.first, made.last = extent(days)
	if as.covers() {
		request.ApprovalPeriods = request.GetPeriods()
	}
	if made.id, err = newID(ctx, h.Pool); err != nil {
		return nil, err
	}
	of := handover.Request{ID: made.id, EmployeeID: employee.ID}
	err = retry(func() error {
		room, err := h.readRoom(ctx, wish{id: made.id, employeeID: employee.ID, request: request, status: as, subtype: subtype})
		if err != nil {
			return err
		}
		return h.Handover.Change(ctx, of, as.covers(), func(ctx context.Context, tx pgx.Tx, put handover.Put) error {
			if err := refuseOverlaps(ctx, tx, made, days); err != nil {
				return err
			}
			if err := room.check(ctx, tx, made); err != nil {
				return err
			}
			if err := insert(ctx, tx, made); err != nil || !as.covers() {
				return err
			}
			return putOnSchedule(ctx, tx, made, made.first, put)
		})
	})
	if err != nil {
		return nil, err
	}
	return h.present(ctx, made, employee), rpc.SetVersion(ctx, made.version)
}

// refuseOverlaps returns an error if the employee has another request on one of the days, and one
// of the two requests uses the whole day.
func refuseOverlaps(ctx context.Context, tx pgx.Tx, made *row, days []civil.Range) error {
	others, err := byEmployee(ctx, tx, []int64{made.employeeID}, active, civil.Through(made.first, made.last))
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.id == made.id {
			continue
		}
		for _, p := range other.request.GetPeriods() {
			of, err := parseDays("periods", p.GetStartDate(), p.GetEndDate())
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

// putOnSchedule sends the edits that a request has in its status to the schedule. It returns an
// error if the timecard of its first day, or of its first day before the change, is signed off. It
// must be the last step of a change, because scheduling may reject the edits.
func putOnSchedule(ctx context.Context, tx pgx.Tx, r *row, first civil.Date, put handover.Put) error {
	if err := leaveday.RefuseSigned(ctx, tx, leaveday.Change{EmployeeID: r.employeeID, First: first}); err != nil {
		return err
	}
	list, err := r.edits()
	if err != nil {
		return err
	}
	return put(ctx, tx, list)
}

// edits returns the pay code edits that a request has on the schedule.
func (r *row) edits() ([]*schedulingv1.PayCodeEdit, error) {
	if !r.status.covers() {
		return nil, nil
	}
	return edits(r.request)
}

// StoredEdits returns the pay code edits that a request has on the schedule, according to the
// database. A request that does not exist has none.
func StoredEdits(ctx context.Context, db pg.Querier, requestID int64) ([]*schedulingv1.PayCodeEdit, error) {
	found, err := byID(ctx, db, []int64{requestID})
	if err != nil || found[requestID] == nil {
		return nil, err
	}
	return found[requestID].edits()
}

// HandOverAgain makes the sweep send the edits of requests to scheduling again: of the approved
// requests, and of those that scheduling has, given with their employees.
func HandOverAgain(ctx context.Context, tx pgx.Tx, scheduled map[int64]int64) error {
	requests, err := readCovering(ctx, tx)
	if err != nil {
		return err
	}
	maps.Copy(requests, scheduled)
	var list []handover.Request
	for id, employeeID := range requests {
		list = append(list, handover.Request{ID: id, EmployeeID: employeeID})
	}
	return handover.Repeat(ctx, tx, list)
}

// change changes the status of a request.
func (h *requests) change(ctx context.Context, req *timekeepingv1.ApplyUpdateTimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	do, where := req.GetChangeState().GetDo(), req.GetChangeState().GetWhere()
	if do.GetToStatus() == nil {
		return nil, missing("changeState.do.toStatus")
	}
	if where.GetTimeOffRequestId() == 0 {
		return nil, missing("changeState.where.timeOffRequestId")
	}
	to, err := parseStatus(do.GetToStatus())
	if err != nil {
		return nil, err
	}
	var changed *timekeepingv1.TimeOffRequest
	err = retry(func() (err error) {
		changed, err = h.changeStatus(ctx, do, where.GetTimeOffRequestId(), to)
		return err
	})
	return changed, err
}

// changeStatus makes one attempt to change the status of a request.
func (h *requests) changeStatus(ctx context.Context, do *timekeepingv1.TimeOffStatusDo, id int64, to status) (*timekeepingv1.TimeOffRequest, error) {
	seen, employee, err := h.find(ctx, id, http.StatusBadRequest)
	if err != nil {
		return nil, err
	}
	subtype, err := h.Subtypes.TimeOff(ctx, &seen.subtypeID, "")
	if err != nil {
		subtype = nil // The subtype was deleted, so it has no settings.
	}
	cancelsItself := subtype.GetAutomaticApprovalForCancellation()
	var changed *row
	after, _ := next(h.by, seen.status, to, cancelsItself) // An invalid change fails below.
	var room *room
	if after.covers() && !seen.status.covers() {
		if room, err = h.readRoom(ctx, wish{id: seen.id, employeeID: seen.employeeID, request: seen.request, status: after, subtype: subtype}); err != nil {
			return nil, err
		}
	}
	of := handover.Request{ID: seen.id, EmployeeID: seen.employeeID}
	err = h.Handover.Change(ctx, of, seen.status.covers() != after.covers(), func(ctx context.Context, tx pgx.Tx, put handover.Put) error {
		r, err := forUpdate(ctx, tx, seen.id)
		if err != nil {
			return err
		}
		if r == nil {
			return newUnknownError(http.StatusBadRequest, seen.id)
		}
		before := r.status
		if r.status, err = next(h.by, before, to, cancelsItself); err != nil {
			return err
		}
		r.request.CommentNotes = append(r.request.CommentNotes, do.GetCommentNotes()...)
		r.request.RequestStatusChanges = append(r.request.RequestStatusChanges, h.newStatusChange(ctx, employee, before, r.status))
		if size := proto.Size(r.request); size > 2*maxBytes {
			return invalid("changeState.do.commentNotes", "must be shorter: the request would have %d bytes", size)
		}
		switch {
		case r.status.covers() && !before.covers():
			if r.version != seen.version {
				return errMeanwhile
			}
			if err := room.check(ctx, tx, r); err != nil {
				return err
			}
			r.request.ApprovalPeriods = r.request.GetPeriods()
		case before.covers() && !r.status.covers():
			r.request.ApprovalPeriods = nil
		}
		changed = r
		if err := update(ctx, tx, r); err != nil || r.status.covers() == before.covers() {
			return err
		}
		return putOnSchedule(ctx, tx, r, r.first, put)
	})
	if err != nil {
		return nil, err
	}
	return h.present(ctx, changed, employee), nil
}

// find returns a request that the caller may see, with its employee. Otherwise it returns an error
// with the status missing.
func (h *requests) find(ctx context.Context, id int64, missing int) (*row, *employee, error) {
	visible, err := h.visible(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, err := byID(ctx, h.Pool, []int64{id})
	if err != nil {
		return nil, nil, err
	}
	r := found[id]
	if r == nil || !visible.Has(r.employeeID) {
		if r != nil {
			authn.NoteNotVisible(ctx)
		}
		return nil, nil, newUnknownError(missing, id)
	}
	if refused := visible.RefuseOwn(r.employeeID); refused != nil {
		return nil, nil, refused
	}
	employees, err := h.directory.employees(ctx, []*commonv1.Ref{{Id: proto.Int64(r.employeeID)}})
	if err != nil {
		return nil, nil, err
	}
	return r, &employees[0], nil
}

// visible returns the employees whose requests the caller may see on this side.
func (h *requests) visible(ctx context.Context) (rowvisibility.Set, error) {
	if h.by == managerSide {
		return h.Persons.Visible(ctx)
	}
	if p, ok := authn.From(ctx); ok && p.PersonID > 0 {
		return rowvisibility.Persons(p.PersonID), nil
	}
	return rowvisibility.Set{}, nil
}

func newUnknownError(status int, id int64) error {
	return fault.Newf(timeofffault.CodeUnknown, status, "There is no request for time off with the id %d.", id)
}

func isCaller(ctx context.Context, employeeID int64) bool {
	p, ok := authn.From(ctx)
	return ok && p.PersonID == employeeID
}

// newStatusChange returns the history entry of a change that the caller makes now.
func (h *requests) newStatusChange(ctx context.Context, employee *employee, from, to status) *timekeepingv1.RequestStatusChange {
	out := &timekeepingv1.RequestStatusChange{
		ChangeDateTime: employee.Clocks.At(clock.OfTenant(ctx, h.Clock.Now())).String(), ToStatus: to.message(),
	}
	if from != 0 {
		out.FromStatus = from.message()
	}
	if p, ok := authn.From(ctx); ok {
		out.PersonName = p.Subject
	}
	return out
}

// creator returns the ref of the user who creates a request: the person number if the person is
// known here, and otherwise the user name.
func (h *requests) creator(ctx context.Context, employee *employee) *commonv1.Ref {
	p, ok := authn.From(ctx)
	switch {
	case !ok:
		return nil
	case p.PersonID == employee.ID:
		return employeeRef(employee)
	case p.PersonID > 0:
		ref := &commonv1.Ref{Id: proto.Int64(p.PersonID)}
		if persons, err := h.directory.employees(authn.WithoutOwnRecord(ctx), []*commonv1.Ref{ref}); err == nil {
			return employeeRef(&persons[0])
		}
		ref.Qualifier = proto.String(p.Subject)
		return ref
	}
	return &commonv1.Ref{Qualifier: proto.String(p.Subject)}
}

func employeeRef(e *employee) *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(e.ID), Qualifier: proto.String(e.PersonNumber)}
}

// present converts a request to the form of responses.
func (h *requests) present(ctx context.Context, r *row, employee *employee) *timekeepingv1.TimeOffRequest {
	out := proto.CloneOf(r.request)
	out.Id, out.Employee = proto.Int64(r.id), employeeRef(employee)
	out.CurrentStatus = r.status.message()
	if h.by == employeeSide || !isCaller(ctx, r.employeeID) {
		out.NextValidStatuses = messages(steps[h.by][r.status])
	}
	out.Historical = proto.Bool(r.last < employee.Clocks.At(clock.OfTenant(ctx, h.Clock.Now())).Date)
	return out
}
