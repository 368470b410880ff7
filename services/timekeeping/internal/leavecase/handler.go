package leavecase

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Edits are the leave edits of cases. The methods that change them run in the transaction that has
// locked the cases.
type Edits interface {
	// Days returns the span of days that the edits of a case overlap; empty without edits.
	Days(ctx context.Context, db pg.Querier, caseID int64) (civil.Range, error)
	// Touch stores the edits of a case again, because schedules show some properties of the case.
	Touch(ctx context.Context, tx pgx.Tx, c *Case) error
	// DeleteAll deletes the edits of cases.
	DeleteAll(ctx context.Context, tx pgx.Tx, cases []*Case) error
}

// Handler serves LeaveCaseService. The interceptors before it ensure that the context has a tenant.
type Handler struct {
	timekeepingv1.UnsafeLeaveCaseServiceServer
	pool    *pg.Pool
	persons *person.Directory
	edits   Edits
	periods Ranges
	report  Report
}

// Report sends the leave of employees to scheduling, after the changes are committed.
type Report func(ctx context.Context, employees ...int64) error

// New returns a Handler. It calls report after each commit that may have changed leave edits.
func New(pool *pg.Pool, persons *person.Directory, edits Edits, periods Ranges, report Report) *Handler {
	return &Handler{pool: pool, persons: persons, edits: edits, periods: periods, report: report}
}

// GetLeaveCase returns the case with the id in the path.
func (h *Handler) GetLeaveCase(ctx context.Context, req *timekeepingv1.GetLeaveCaseRequest) (*timekeepingv1.LeaveCase, error) {
	c, err := OfCaller(ctx, h.pool, h.persons, &commonv1.Ref{Id: &req.Id})
	if fault.HasCode(err, CodeCaseUnknown) {
		return nil, fault.NotFound(CodeCaseUnknown, fault.FromError(err).Message)
	}
	if err != nil {
		return nil, err
	}
	return c.toProto(), nil
}

// FindLeaveCase returns the case with an id, or with a code.
func (h *Handler) FindLeaveCase(ctx context.Context, req *timekeepingv1.FindLeaveCaseRequest) (*timekeepingv1.LeaveCase, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := OneBy(ctx, h.pool, visible, req.LeaveCaseId, req.GetCode())
	if err != nil {
		return nil, err
	}
	return found.toProto(), nil
}

// CreateLeaveCase stores a new case.
func (h *Handler) CreateLeaveCase(ctx context.Context, req *timekeepingv1.LeaveCase) (*timekeepingv1.LeaveCase, error) {
	d, who, err := h.draft(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	var id int64
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err := checkProfile(ctx, tx, who.ID, d.body); err != nil {
			return err
		}
		id, err = insert(ctx, tx, who.ID, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newCase(id, who, d).toProto(), nil
}

func newCase(id int64, who person.Person, d *draft) *Case {
	return &Case{
		ID: id, EmployeeID: who.ID, Days: d.days, number: who.Number, fullName: who.FullName,
		timeZone: who.TimeZone, body: d.body,
	}
}

// draft validates a new case. For bulk requests, the caller passes the persons that it has already
// found.
func (h *Handler) draft(ctx context.Context, in *timekeepingv1.LeaveCase, known map[person.Key]person.Person) (*draft, person.Person, error) {
	if proto.Equal(in, &timekeepingv1.LeaveCase{}) {
		return nil, person.Person{}, fault.Invalid(CodeEmptyBody, "The body is empty.")
	}
	if in.Id != nil {
		return nil, person.Person{}, fault.Invalid(fault.CodeInput, "A new leave case must not have an id.")
	}
	if in.GetEmployee() == nil {
		return nil, person.Person{}, missing(CodeEmployeeMissing, "employee")
	}
	key, err := personKey(employeeRef(in))
	if err != nil {
		return nil, person.Person{}, err
	}
	if known == nil {
		if known, err = h.persons.Find(ctx, []person.Key{key}); err != nil {
			return nil, person.Person{}, err
		}
	}
	who, ok := known[key]
	if !ok {
		return nil, person.Person{}, unknownEmployee(key)
	}
	if who.Refused != nil {
		return nil, person.Person{}, who.Refused
	}
	d, err := newDraft(in, who)
	return d, who, err
}

// UpdateLeaveCase changes the case with the id in the body. Omitted properties and the employee do
// not change.
func (h *Handler) UpdateLeaveCase(ctx context.Context, req *timekeepingv1.LeaveCase) (*timekeepingv1.LeaveCase, error) {
	if proto.Equal(req, &timekeepingv1.LeaveCase{}) {
		return nil, fault.Invalid(CodeEmptyBody, "The body is empty.")
	}
	if req.Id == nil {
		return nil, fault.Invalid(CodeCaseMissing, "The body needs the id of the leave case.")
	}
	ref := &commonv1.Ref{Id: req.Id}
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	before, err := Find(ctx, h.pool, visible, []*commonv1.Ref{ref}, false)
	if err != nil {
		return nil, err
	}
	who, err := h.sameEmployee(ctx, before[0], req)
	if err != nil {
		return nil, err
	}
	var after *Case
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := Find(ctx, tx, visible, []*commonv1.Ref{ref}, true)
		if err != nil {
			return err
		}
		after, err = h.change(ctx, tx, found[0], req, who)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := h.report(ctx, after.EmployeeID); err != nil {
		return nil, err
	}
	return after.toProto(), nil
}

func (h *Handler) change(ctx context.Context, tx pgx.Tx, old *Case, req *timekeepingv1.LeaveCase, who person.Person) (*Case, error) {
	d, err := changedDraft(req, old, who)
	if err != nil {
		return nil, err
	}
	if d.body.GetCategory().GetId() != old.body.GetCategory().GetId() {
		if err := checkProfile(ctx, tx, old.EmployeeID, d.body); err != nil {
			return nil, err
		}
	}
	taken, err := h.edits.Days(ctx, tx, old.ID)
	switch {
	case err != nil:
		return nil, err
	case !taken.Empty() && taken.From < d.days.From:
		return nil, fault.Invalid(CodeEditsBeforeStart, fmt.Sprintf("There are leave edits before %s: from %s on.", d.days.From, taken.From))
	case !taken.Empty() && taken.To > d.days.To:
		return nil, fault.Invalid(CodeEditsAfterEnd, fmt.Sprintf("There are leave edits after endDate: until %s.", taken.To.AddDays(-1)))
	}
	if err := update(ctx, tx, old.ID, d); err != nil {
		return nil, err
	}
	after := newCase(old.ID, who, d)
	if after.Code() == old.Code() && after.StatusID() == old.StatusID() && after.FrequencyID() == old.FrequencyID() {
		return after, nil
	}
	return after, h.edits.Touch(ctx, tx, after)
}

// Open opens a submitted case, which the caller has locked, and returns its new state.
func Open(ctx context.Context, tx pgx.Tx, c *Case, edits Edits) (*Case, error) {
	if c.StatusID() != leavesetup.StatusSubmitted {
		return c, c.CheckOpen()
	}
	open, _ := leavesetup.Statuses().Find(&commonv1.Ref{Id: proto.Int64(leavesetup.StatusOpen)})
	now := *c
	now.body = proto.CloneOf(c.body)
	now.body.Status = open.Ref()
	if err := update(ctx, tx, c.ID, &draft{body: now.body, days: c.Days}); err != nil {
		return nil, err
	}
	return &now, edits.Touch(ctx, tx, &now)
}

// sameEmployee returns the employee of a case. If the request names an employee, it must be the
// same one.
func (h *Handler) sameEmployee(ctx context.Context, c *Case, req *timekeepingv1.LeaveCase) (person.Person, error) {
	key := person.Key{ID: c.EmployeeID}
	keys := []person.Key{key}
	if req.GetEmployee() != nil {
		other, err := personKey(employeeRef(req))
		if err != nil {
			return person.Person{}, err
		}
		keys = append(keys, other)
	}
	found, err := h.persons.Find(ctx, keys)
	if err != nil {
		return person.Person{}, err
	}
	for _, k := range keys {
		who, ok := found[k]
		switch {
		case !ok:
			return person.Person{}, unknownEmployee(k)
		case who.ID != c.EmployeeID:
			return person.Person{}, fault.Invalid(fault.CodeInput, "A leave case keeps its employee. Create another case for another employee.")
		}
	}
	return found[key], nil
}

// DeleteLeaveCase deletes the case that the body names.
func (h *Handler) DeleteLeaveCase(ctx context.Context, req *timekeepingv1.DeleteLeaveCaseRequest) (*emptypb.Empty, error) {
	if req.GetLeaveCase() == nil {
		return nil, fault.Invalid(CodeCaseMissing, "The body must name the leave case.")
	}
	return h.delete(ctx, []*commonv1.Ref{req.GetLeaveCase()}, req.GetDeleteEdits())
}

// MultiDeleteLeaveCases deletes either all cases or none.
func (h *Handler) MultiDeleteLeaveCases(ctx context.Context, req *timekeepingv1.MultiDeleteLeaveCasesRequest) (*emptypb.Empty, error) {
	if len(req.GetLeaveCases()) == 0 {
		return nil, fault.Invalid(CodeCaseMissing, "leaveCases is empty.")
	}
	return h.delete(ctx, req.GetLeaveCases(), req.GetDeleteEdits())
}

func (h *Handler) delete(ctx context.Context, refs []*commonv1.Ref, withEdits bool) (*emptypb.Empty, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	var employees []int64
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		cases, err := Find(ctx, tx, visible, refs, true)
		if err != nil {
			return err
		}
		ids := make([]int64, len(cases))
		employees = make([]int64, len(cases))
		for i, c := range cases {
			ids[i], employees[i] = c.ID, c.EmployeeID
			if withEdits {
				continue
			}
			taken, err := h.edits.Days(ctx, tx, c.ID)
			if err != nil {
				return err
			}
			if !taken.Empty() {
				return fault.Invalid(CodeHasEdits, fmt.Sprintf("Leave case %s has leave edits. Delete them first, or with it.", c.Code()))
			}
		}
		if withEdits {
			if err := h.edits.DeleteAll(ctx, tx, cases); err != nil {
				return err
			}
		}
		return remove(ctx, tx, ids)
	})
	if err != nil {
		return nil, err
	}
	if err := h.report(ctx, employees...); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// tooMany returns the error for a response that would be too long.
func tooMany(what string, allowed int) *fault.Error {
	return fault.New(fault.CodeItemLimit, http.StatusRequestEntityTooLarge,
		fmt.Sprintf("There are more than %d %s. Ask for fewer employees or days.", allowed, what))
}
