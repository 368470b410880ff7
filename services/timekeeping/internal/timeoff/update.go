package timeoff

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeoff/handover"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// UpdateTimeOff replaces the contents of a request. An approved request stays approved: its old
// days are given back and the new days are deducted, or nothing changes.
func (h *Manager) UpdateTimeOff(ctx context.Context, req *timekeepingv1.UpdateTimeOffRequest) (*timekeepingv1.TimeOffRequest, error) {
	given := req.GetBody()
	if id := given.GetId(); id != 0 && id != req.GetId() {
		return nil, fault.Invalid(timeofffault.CodeOtherID, "The id in the body must be the one in the path.")
	}
	seen, employee, err := h.requests.find(ctx, req.GetId(), http.StatusNotFound)
	if err != nil {
		return nil, err
	}
	if timeofffault.Named(given.GetEmployee()) && !refMatches(given.GetEmployee(), employee) {
		return nil, invalid("employee", "must be the one who has the request")
	}
	subtype, err := h.requests.subtypeFor(ctx, given, seen)
	if err != nil {
		return nil, err
	}
	return h.requests.replace(ctx, seen, employee, given, subtype)
}

// subtypeFor returns the new subtype of a request. The current subtype must let managers edit
// requests, which is the default.
func (h *requests) subtypeFor(ctx context.Context, given *timekeepingv1.TimeOffRequest, seen *row) (*timekeepingv1.TimeOffRequestSubtype, error) {
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
	ctx context.Context, seen *row, employee *employee, given *timekeepingv1.TimeOffRequest, subtype *timekeepingv1.TimeOffRequestSubtype,
) (*timekeepingv1.TimeOffRequest, error) {
	request, days, err := prepare(given, subtype)
	if err != nil {
		return nil, err
	}
	of, before := handover.Request{ID: seen.id, EmployeeID: employee.ID}, seen.request
	if !seen.status.covers() {
		before = nil
	}
	var changed *row
	err = retry(func() error {
		room, err := h.readRoom(ctx, wish{id: seen.id, employeeID: employee.ID, request: request, status: seen.status, subtype: subtype, before: before})
		if err != nil {
			return err
		}
		return h.Handover.Change(ctx, of, seen.status.covers(), func(ctx context.Context, tx pgx.Tx, put handover.Put) error {
			r, err := forUpdate(ctx, tx, seen.id)
			if err != nil {
				return err
			}
			if r == nil {
				return newUnknownError(http.StatusNotFound, seen.id)
			}
			if err := precondition.Check(ctx, fmt.Sprintf("time off request %d", seen.id), r.version); err != nil {
				return err
			}
			if !slices.Contains(active, r.status) {
				return fault.Invalid(CodeChange, "The status of the request is "+r.status.symbolicID()+"; its content can no longer be changed.")
			}
			if r.status.covers() != seen.status.covers() {
				return fault.Conflict(fault.CodeStale, "Another user has decided on the request for time off. Read it, and try again.")
			}
			old := r.request
			request.Creator, request.CreateDateTime, request.RequestStatusChanges = old.GetCreator(), old.GetCreateDateTime(), old.GetRequestStatusChanges()
			if len(request.GetCommentNotes()) == 0 {
				request.CommentNotes = old.GetCommentNotes()
			}
			if size := proto.Size(request); size > 2*maxBytes {
				return invalid("The request", "must have at most %d bytes; it would have %d", 2*maxBytes, size)
			}
			first := r.first
			r.request, r.subtypeID = request, subtype.GetId()
			r.first, r.last = extent(days)
			if err := refuseOverlaps(ctx, tx, r, days); err != nil {
				return err
			}
			if err := room.check(ctx, tx, r); err != nil {
				return err
			}
			if r.status.covers() {
				request.ApprovalPeriods = request.GetPeriods()
			}
			changed = r
			if err := replace(ctx, tx, r); err != nil || !r.status.covers() {
				return err
			}
			return putOnSchedule(ctx, tx, r, min(first, r.first), put)
		})
	})
	if err != nil {
		return nil, err
	}
	return h.present(ctx, changed, employee), rpc.SetVersion(ctx, changed.version)
}
