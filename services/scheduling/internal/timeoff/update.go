package timeoff

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// UpdateTimeOff replaces what a request asks for. One that is approved stays so: its
// old days are given back and the new ones taken, or nothing changes.
func (h *Manager) UpdateTimeOff(ctx context.Context, req *schedulingv1.UpdateTimeOffRequest) (*schedulingv1.TimeOffRequest, error) {
	given := req.GetBody()
	if id := given.GetId(); id != 0 && id != req.GetId() {
		return nil, fault.Invalid(patterndefinition.CodeOtherID, "The id in the body must be the one in the path.")
	}
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	seen, employee, err := h.requests.find(ctx, tenantID, req.GetId(), http.StatusNotFound)
	if err != nil {
		return nil, err
	}
	if patterndefinition.Named(given.GetEmployee()) && !isRefOf(given.GetEmployee(), employee) {
		return nil, invalid("employee", "must be the one who has the request")
	}
	subtype, err := h.requests.subtypeFor(ctx, given, seen)
	if err != nil {
		return nil, err
	}
	return h.requests.replace(ctx, tenantID, seen.id, employee, given, subtype)
}

// subtypeFor returns the subtype that a request will have. The one that it has must let
// managers edit requests, as it does unless it says otherwise.
func (h *requests) subtypeFor(ctx context.Context, given *schedulingv1.TimeOffRequest, seen *row) (*schedulingv1.TimeOffRequestSubtype, error) {
	subtype, err := h.Subtypes.TimeOff(ctx, &seen.subtypeID, "")
	if err != nil && given.GetRequestSubType() == nil {
		return nil, err
	}
	if subtype != nil && subtype.AllowRequestEditingForManager != nil && !subtype.GetAllowRequestEditingForManager() {
		return nil, fault.Invalid(CodeNotAllowed, "The request subtype does not let managers edit requests (allowRequestEditingForManager).")
	}
	if given.GetRequestSubType() == nil {
		return subtype, nil
	}
	return h.subtype(ctx, given.GetRequestSubType())
}

func (h *requests) replace(
	ctx context.Context, tenantID, id int64, employee *projection.Employee, given *schedulingv1.TimeOffRequest, subtype *schedulingv1.TimeOffRequestSubtype,
) (*schedulingv1.TimeOffRequest, error) {
	request, days, err := prepare(given, subtype)
	if err != nil {
		return nil, err
	}
	var changed *row
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := employeelock.Lock(ctx, tx, tenantID, []int64{employee.ID}); err != nil {
			return err
		}
		r, err := forUpdate(ctx, tx, tenantID, id)
		if err != nil {
			return err
		}
		if r == nil {
			return unknown(http.StatusNotFound, id)
		}
		if err := precondition.Check(ctx, fmt.Sprintf("time off request %d", id), r.version); err != nil {
			return err
		}
		if !slices.Contains(active, r.status) {
			return fault.Invalid(CodeChange, "The status of the request is "+r.status.symbolicID()+"; what it asks for cannot be changed any more.")
		}
		old := r.request
		request.Creator, request.CreateDateTime, request.RequestStatusChanges = old.GetCreator(), old.GetCreateDateTime(), old.GetRequestStatusChanges()
		if len(request.GetCommentNotes()) == 0 {
			request.CommentNotes = old.GetCommentNotes()
		}
		if size := proto.Size(request); size > 2*maxBytes {
			return invalid("The request", "must have at most %d bytes; it would have %d", 2*maxBytes, size)
		}
		r.request, r.subtypeID = request, subtype.GetId()
		r.first, r.last = extent(days)
		if err := h.free(ctx, tx, tenantID, r, days); err != nil {
			return err
		}
		if err := h.Schedules.Uncover(ctx, tx, tenantID, r.items); err != nil {
			return err
		}
		r.items = nil
		if err := h.syncSchedule(ctx, tx, tenantID, employee, r, 0); err != nil {
			return err
		}
		changed = r
		return replace(ctx, tx, tenantID, r)
	})
	if err != nil {
		return nil, err
	}
	h.Wake()
	return h.present(ctx, changed, employee), rpc.SetVersion(ctx, changed.version)
}
