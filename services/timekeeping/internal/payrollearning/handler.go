package payrollearning

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Handler serves PayrollEarningService.
type Handler struct {
	timekeepingv1.UnsafePayrollEarningServiceServer

	pool    *pg.Pool
	persons *person.Directory
	clock   clock.Clock
	zones   civil.Zones
}

var _ timekeepingv1.PayrollEarningServiceServer = (*Handler)(nil)

// New returns a Handler of the database of the pool.
func New(pool *pg.Pool, persons *person.Directory, clk clock.Clock) *Handler {
	return &Handler{pool: pool, persons: persons, clock: clk}
}

// outcome holds the results of the earnings of a request; a nil error is a success.
type outcome struct {
	earnings []earning
	errs     []error
}

func (o *outcome) countFailures() (n int) {
	for _, err := range o.errs {
		if err != nil {
			n++
		}
	}
	return n
}

// errRolledBack ends a transaction without storing any earning.
var errRolledBack = errors.New("an earning keeps the others back")

// ImportPayrollEarnings stores earnings. See PayrollEarningService for the statuses.
func (h *Handler) ImportPayrollEarnings(ctx context.Context, req *timekeepingv1.ImportPayrollEarningsRequest) (*timekeepingv1.PayrollEarningImport, error) {
	given := req.GetBody().GetEarnings()
	if len(given) == 0 {
		return nil, invalid("earnings needs at least one earning.")
	}
	o, err := h.prepare(ctx, given)
	if err != nil {
		return nil, err
	}
	if o.countFailures() < len(given) && !(req.GetFailAllOnRequest() && o.countFailures() > 0) {
		if err := h.store(ctx, o, req.GetFailAllOnRequest()); err != nil {
			return nil, err
		}
	}
	return o.respond(ctx, req.GetFailAllOnRequest())
}

// prepare validates each earning, and finds the employees.
func (h *Handler) prepare(ctx context.Context, given []*timekeepingv1.PayrollEarning) (*outcome, error) {
	o := &outcome{earnings: make([]earning, len(given)), errs: make([]error, len(given))}
	var keys []person.Key
	seen := map[uuid.UUID]bool{}
	for i, g := range given {
		e := &o.earnings[i]
		e.Message, _ = proto.Clone(g).(*timekeepingv1.PayrollEarning)
		e.Message.IsImportedIntoPayroll = nil
		if e.ID, o.errs[i] = check(g); o.errs[i] != nil {
			continue
		}
		e.Message.RefId = e.ID.String()
		if seen[e.ID] {
			o.errs[i] = newUsedError(e.ID)
			continue
		}
		seen[e.ID] = true
		keys = append(keys, person.Key{Number: g.GetEmpNo()})
	}
	found, err := h.persons.Find(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i, g := range given {
		if o.errs[i] != nil {
			continue
		}
		key := person.Key{Number: g.GetEmpNo()}
		p, known := found[key]
		if !known {
			o.errs[i] = key.Unknown()
			continue
		}
		if p.Refused != nil {
			o.errs[i] = p.Refused
			continue
		}
		today, err := h.today(ctx, p)
		if err != nil {
			return nil, err
		}
		o.earnings[i].Employee = p.ID
		if o.earnings[i].Charged, err = day("chargeDate", g.GetChargeDate(), today); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// today returns the current date at the employee's place of work.
func (h *Handler) today(ctx context.Context, p person.Person) (civil.Date, error) {
	clocks, err := p.Clocks(&h.zones)
	if err != nil {
		return 0, fmt.Errorf("time zone of the employee %d: %w", p.ID, err)
	}
	return clocks.At(clock.OfTenant(ctx, h.clock.Now())).Date, nil
}

func newUsedError(id uuid.UUID) error {
	return fault.Conflict(CodeUsed, fmt.Sprintf("refId: another earning has %s. Choose a new one.", id))
}

// store stores the valid earnings. With together, it stores none if the id of any earning is in
// use.
func (h *Handler) store(ctx context.Context, o *outcome, together bool) error {
	var good []earning
	for i, e := range o.earnings {
		if o.errs[i] == nil {
			good = append(good, e)
		}
	}
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return err
	}
	var stored map[uuid.UUID]bool
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if stored, err = insertAll(ctx, tx, good, visible); err == nil && together && len(stored) < len(good) {
			err = errRolledBack
		}
		return err
	})
	if err != nil && !errors.Is(err, errRolledBack) {
		return err
	}
	for i, e := range o.earnings {
		if o.errs[i] == nil && !stored[e.ID] {
			o.errs[i] = newUsedError(e.ID)
		}
	}
	return nil
}

// respond builds the response.
func (o *outcome) respond(ctx context.Context, together bool) (*timekeepingv1.PayrollEarningImport, error) {
	failed := int32(o.countFailures())
	stored := int32(len(o.errs)) - failed
	if together && failed > 0 {
		stored = 0
	}
	out := &timekeepingv1.PayrollEarningImport{}
	if stored > 0 {
		out.SuccessCount = &stored
	}
	if failed == 0 {
		return out, nil
	}
	out.ErrorCount = &failed
	conflicts := int32(0)
	for i, err := range o.errs {
		if err == nil {
			continue
		}
		f := fault.FromError(err)
		e := &timekeepingv1.PayrollEarningError{
			Title: "Invalid earning", RefId: o.earnings[i].Message.GetRefId(), Type: "validation", Detail: f.Message, ErrorCode: f.Code, Message: f.Message,
		}
		if f.Status == http.StatusConflict {
			e.Title, e.Type = "Earning exists", "conflict"
			conflicts++
		}
		out.Errors = append(out.Errors, e)
	}
	status := http.StatusMultiStatus
	if stored == 0 {
		status = http.StatusBadRequest
		if conflicts == failed {
			status = http.StatusConflict
		}
		out.ErrorCode, out.Message = CodeNone, "None of the earnings was stored. The errors say why."
	}
	return out, rpc.SetHTTPStatus(ctx, status)
}

// GetPayrollEarning returns an earning, or 404.
func (h *Handler) GetPayrollEarning(ctx context.Context, req *timekeepingv1.GetPayrollEarningRequest) (*timekeepingv1.PayrollEarning, error) {
	e, err := h.find(ctx, req.GetRefId())
	if err != nil {
		return nil, err
	}
	e.Message.IsImportedIntoPayroll = &e.Taken
	return e.Message, nil
}

// find returns an earning, if the caller sees its employee.
func (h *Handler) find(ctx context.Context, ref string) (*earning, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	id, err := ParseRef(ref)
	if err != nil {
		return nil, newUnknownError(ref)
	}
	e, err := read(ctx, h.pool, id, "")
	if err == nil && (e == nil || !visible.Has(e.Employee)) {
		// The caller may have imported an earning whose refId a hidden earning also has.
		var mine *earning
		if mine, err = read(ctx, h.pool, derivedID(ctx, id), ""); mine != nil {
			e = mine
		}
	}
	if err != nil {
		return nil, err
	}
	if e != nil && visible.Has(e.Employee) {
		if refused := visible.RefuseOwn(e.Employee); refused != nil {
			return nil, refused
		}
		return e, nil
	}
	if e != nil {
		authn.NoteNotVisible(ctx)
	}
	return nil, newUnknownError(ref)
}

func newUnknownError(ref string) error {
	return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no earning with the refId %q.", truncate(ref)))
}

// DeletePayrollEarning deletes an earning that is not yet part of payroll.
func (h *Handler) DeletePayrollEarning(ctx context.Context, req *timekeepingv1.DeletePayrollEarningRequest) (*emptypb.Empty, error) {
	found, err := h.find(ctx, req.GetRefId())
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		e, err := read(ctx, tx, found.ID, "FOR UPDATE")
		switch {
		case err != nil:
			return err
		case e == nil:
			return newUnknownError(req.GetRefId())
		case e.Taken:
			return fault.New(CodeTaken, http.StatusMethodNotAllowed, "The earning was taken into payroll and cannot be deleted. Import an earning that offsets it.")
		}
		return remove(ctx, tx, e.ID)
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}
