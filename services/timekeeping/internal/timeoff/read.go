package timeoff

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// get returns one request, or 404.
func (h *requests) get(ctx context.Context, id int64) (*timekeepingv1.TimeOffRequest, error) {
	r, employee, err := h.find(ctx, id, http.StatusNotFound)
	if err != nil {
		return nil, err
	}
	return h.present(ctx, r, employee), rpc.SetVersion(ctx, r.version)
}

// withIDs returns requests in the order of their ids, or an error if one is unknown.
func (h *requests) withIDs(ctx context.Context, ids []int64) (*timekeepingv1.TimeOffRequestList, error) {
	if len(ids) == 0 {
		return nil, missing("where.ids.timeOffRequestIds")
	}
	visible, err := h.visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := byID(ctx, h.Pool, ids)
	if err != nil {
		return nil, err
	}
	rows := make([]*row, len(ids))
	for i, id := range ids {
		r := found[id]
		if r == nil || !visible.Has(r.employeeID) {
			if r != nil {
				authn.NoteNotVisible(ctx)
			}
			return nil, newUnknownError(http.StatusBadRequest, id)
		}
		rows[i] = r
	}
	return h.list(ctx, rows)
}

// readRequests returns the requests of employees that overlap a range of days and have one of the statuses;
// nil selects all statuses.
func (h *requests) readRequests(ctx context.Context, employees []employee, days civil.Range, statuses []status) (*timekeepingv1.TimeOffRequestList, error) {
	if statuses == nil {
		for s := range names {
			statuses = append(statuses, s)
		}
	}
	ids := make([]int64, len(employees))
	for i := range employees {
		ids[i] = employees[i].ID
	}
	rows, err := byEmployee(ctx, h.Pool, ids, statuses, days)
	if err != nil {
		return nil, err
	}
	if len(rows) > maxRead {
		return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("There are more than %d requests. Ask for fewer employees or days.", maxRead))
	}
	byEmployeeID := make(map[int64]*employee, len(employees))
	for i := range employees {
		byEmployeeID[employees[i].ID] = &employees[i]
	}
	out := &timekeepingv1.TimeOffRequestList{}
	for _, r := range rows {
		out.Items = append(out.Items, h.present(ctx, r, byEmployeeID[r.employeeID]))
	}
	return out, nil
}

// list converts rows to the form of responses.
func (h *requests) list(ctx context.Context, rows []*row) (*timekeepingv1.TimeOffRequestList, error) {
	refs := make([]*commonv1.Ref, len(rows))
	for i, r := range rows {
		refs[i] = &commonv1.Ref{Id: proto.Int64(r.employeeID)}
	}
	employees, err := h.directory.employees(ctx, refs)
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.TimeOffRequestList{}
	for i, r := range rows {
		out.Items = append(out.Items, h.present(ctx, r, &employees[i]))
	}
	return out, nil
}

// completion returns the statuses of a completion state.
func completion(state string) ([]status, error) {
	switch state {
	case "":
		return nil, missing("where.states.completionState")
	case "INCOMPLETE":
		return undecided, nil
	case "COMPLETE":
		var done []status
		for s := range names {
			if !slices.Contains(undecided, s) {
				done = append(done, s)
			}
		}
		return done, nil
	}
	return nil, invalid("where.states.completionState", "must be COMPLETE or INCOMPLETE")
}

// subtype returns the request subtype that a request names.
func (h *requests) subtype(ctx context.Context, named *timekeepingv1.TimeOffSubtype) (*timekeepingv1.TimeOffRequestSubtype, error) {
	if named == nil {
		return nil, missing("requestSubType")
	}
	return h.Subtypes.TimeOff(ctx, named.Id, named.GetName())
}

// subtypes returns the request subtypes of time off in the form of lists.
func (h *requests) subtypes(ctx context.Context) (*timekeepingv1.TimeOffSubtypeList, error) {
	all, err := h.Subtypes.AllTimeOff(ctx)
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.TimeOffSubtypeList{}
	for _, s := range all {
		out.Items = append(out.Items, &timekeepingv1.TimeOffSubtype{
			Id: s.Id, Name: s.GetName(), Description: s.GetDescription(),
			LocalizedName: s.GetLocalizedName(), LocalizedDescription: s.GetLocalizedDescription(),
			Symbol: s.GetSymbol(), RequestType: s.GetRequestType(),
			DefaultPayCode: s.GetDefaultPayCode(), DefaultSymbolicSource: s.GetDefaultSymbolicSource(), Priority: s.Priority,
			CustomDurationLabel: s.GetCustomDurationLabel(), LocalizedCustomDurationLabel: s.GetLocalizedCustomDurationLabel(),
			CustomPayCodeLabel: s.GetCustomPayCodeLabel(), LocalizedCustomPayCodeLabel: s.GetLocalizedCustomPayCodeLabel(),
			DisplayAccruals:                 proto.Bool(s.GetDisplayAccruals()),
			DisplayAdditionalPayCodes:       proto.Bool(s.GetDisplayAdditionalPayCodes()),
			DisplayButtonForAdditionalDates: proto.Bool(s.GetDisplayAddAnotherButtonForAdditionalDates()),
			DisplayRequestSummary:           proto.Bool(s.GetDisplayRequestSummary()),
			DurationBeforePayCode:           proto.Bool(s.GetDurationBeforePayCodePanelOrder()),
			StartTimePlusDuration:           proto.Bool(s.GetEnterHoursAsStartTimePlusDuration()),
		})
	}
	return out, nil
}
