package payrollstaging

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// pingSeconds is the time after which a caller should ask again.
const pingSeconds = 5

// Handler serves PayrollStagingService.
type Handler struct {
	timekeepingv1.UnsafePayrollStagingServiceServer
	deps Deps
}

var _ timekeepingv1.PayrollStagingServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// StagePayroll starts a run: it selects the employees immediately, among the persons that the
// caller may see, and leaves their time to workers.
func (h *Handler) StagePayroll(ctx context.Context, req *timekeepingv1.PayrollStagingRequest) (*timekeepingv1.PayrollStagingStatus, error) {
	r, err := parse(req)
	if err != nil {
		return nil, err
	}
	if err := h.checkCustomFields(ctx, r.customFields); err != nil {
		return nil, err
	}
	employees, err := h.employees(ctx, req, r)
	if err != nil {
		return nil, err
	}
	seen, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("name a run: %w", err)
	}
	err = pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error { return start(ctx, tx, id, r, employees, seen) })
	if err != nil {
		return nil, err
	}
	return status(run{ID: id, State: "pending"}), nil
}

func (h *Handler) checkCustomFields(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	response, err := h.deps.Commons.ReadCustomFields(ctx, &commonsv1.ReadCustomFieldsRequest{Names: names})
	if err != nil {
		return fmt.Errorf("find custom fields: %w", err)
	}
	if unknown := response.GetUnknown(); len(unknown) > 0 {
		return fault.Invalid(CodeCustomField, fmt.Sprintf("customFields: no person has a custom field %q.", unknown[0]))
	}
	return nil
}

// employees returns the ids of the employees that a request selects, ascending.
func (h *Handler) employees(ctx context.Context, req *timekeepingv1.PayrollStagingRequest, r rules) ([]int64, error) {
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	var ids []int64
	if req.Employees == nil {
		ids, err = visibleEmployees(ctx, h.deps.Pool, visible)
	} else {
		ids, err = h.findNamed(ctx, req.GetEmployees())
	}
	if err != nil {
		return nil, err
	}
	if r.onlyTerminated {
		if ids, err = findTerminated(ctx, h.deps.Pool, ids, r.days); err != nil {
			return nil, err
		}
	}
	if len(ids) > maxEmployees {
		return nil, fault.TooLarge(CodeEmployees, fmt.Sprintf("A run stages at most %d employees, and %d were chosen.", maxEmployees, len(ids)))
	}
	return ids, nil
}

// findNamed returns the employees that a request names. An unknown employee is an error.
func (h *Handler) findNamed(ctx context.Context, list *commonv1.RefList) ([]int64, error) {
	if _, err := reflist.ExactlyOne(CodeInvalid, "employees", list); err != nil {
		return nil, err
	}
	var keys []person.Key
	for _, id := range list.GetIds() {
		keys = append(keys, person.Key{ID: id})
	}
	for _, number := range list.GetQualifiers() {
		keys = append(keys, person.Key{Number: number})
	}
	for i, ref := range list.GetRefs() {
		key := person.Key{ID: ref.GetId()}
		if key.ID == 0 {
			key.Number = ref.GetQualifier()
		}
		if key == (person.Key{}) {
			return nil, invalid("employees.refs[%d] needs an id or a qualifier.", i)
		}
		keys = append(keys, key)
	}
	found, err := h.deps.Persons.Find(ctx, keys)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, key := range keys {
		p, known := found[key]
		if !known {
			return nil, key.Unknown()
		}
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// GetPayrollStagingStatus returns the progress of a run.
func (h *Handler) GetPayrollStagingStatus(ctx context.Context, req *timekeepingv1.GetPayrollStagingRequest) (*timekeepingv1.PayrollStagingStatus, error) {
	r, err := h.find(ctx, req.GetRequestId())
	if err != nil {
		return nil, err
	}
	return status(*r), nil
}

func (h *Handler) find(ctx context.Context, text string) (*run, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, unknownRun(text)
	}
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	r, err := readRun(ctx, h.deps.Pool, id)
	if err != nil {
		return nil, err
	}
	shown, err := visibleRuns(ctx, h.deps.Pool, visible, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	if r != nil && !shown[id] {
		authn.NoteNotVisible(ctx)
		r = nil
	}
	if r == nil {
		return nil, unknownRun(text)
	}
	return r, nil
}

func unknownRun(text string) error {
	if len(text) > 40 {
		text = text[:40]
	}
	return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no run with the requestId %q.", text))
}

func status(r run) *timekeepingv1.PayrollStagingStatus {
	out := &timekeepingv1.PayrollStagingStatus{RequestId: r.ID.String(), Status: r.State, Message: "Request accepted"}
	ping := int32(pingSeconds)
	switch r.State {
	case "in_progress":
		out.Message = fmt.Sprintf("%d of %d batches are staged", r.Batches-r.Remaining, r.Batches)
	case "success":
		out.Message, ping = "The time of the employees is staged", 0
	case stateCancelled:
		// Existing clients have no other state for a run that ends without rows.
		out.Status = "failed"
		out.Message, ping = "The run was cancelled: its time and its earnings can be staged again", 0
	case "failed":
		out.Message, ping = "No employee could be staged: see the details", 0
	}
	out.NextPing = &ping
	return out
}

// GetPayrollStagingDetails returns the employees that a run has staged, without employees that the
// caller may not see.
func (h *Handler) GetPayrollStagingDetails(ctx context.Context, req *timekeepingv1.GetPayrollStagingRequest) (*timekeepingv1.PayrollStagingDetails, error) {
	r, err := h.find(ctx, req.GetRequestId())
	if err != nil {
		return nil, err
	}
	visible, err := h.deps.Persons.Visible(ctx)
	if err != nil {
		return nil, err
	}
	list, err := stagedEmployees(ctx, h.deps.Pool, r.ID)
	if err != nil {
		return nil, err
	}
	return details(ctx, list, visible), nil
}

func details(ctx context.Context, list []stagedEmployee, visible rowvisibility.Set) *timekeepingv1.PayrollStagingDetails {
	out := &timekeepingv1.PayrollStagingDetails{Results: &timekeepingv1.PayrollStagingResults{}}
	at := int32(0)
	for _, e := range list {
		if !visible.Has(e.ID) {
			authn.NoteNotVisible(ctx)
			continue
		}
		into := &out.Results.Success
		if e.ErrorCode != "" {
			into = &out.Results.Error
			out.ErrorOffsets = append(out.ErrorOffsets, at)
		}
		if *into == nil {
			*into = &timekeepingv1.PayrollStagingEmployees{ErrorCode: e.ErrorCode, Message: e.Message}
		}
		(*into).EmployeeIds = append((*into).EmployeeIds, e.ID)
		(*into).EmployeeQualifiers = append((*into).EmployeeQualifiers, e.Number)
		at++
	}
	return out
}

func tooMany() error {
	return fault.New(CodeTooMany, http.StatusRequestEntityTooLarge, fmt.Sprintf("%d runs are in progress, which is the limit. Try again when one has ended.", maxRuns))
}
