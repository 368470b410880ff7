package employeegroup

import (
	"context"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// pageSize limits the members in one response.
const pageSize = 10_000

// Handler serves EmployeeGroupService.
type Handler struct {
	commonsv1.UnsafeEmployeeGroupServiceServer
	groups *Groups
	page   int
}

// NewHandler returns a Handler.
func NewHandler(groups *Groups) *Handler { return &Handler{groups: groups, page: pageSize} }

// ListEmployeeGroupMembers returns a page of the members of a person's group.
func (h *Handler) ListEmployeeGroupMembers(ctx context.Context, req *commonsv1.ListEmployeeGroupMembersRequest) (*commonsv1.ListEmployeeGroupMembersResponse, error) {
	limit := h.page + 1
	ids, err := h.groups.members(ctx, req.GetPersonId(), req.GetAfterPersonId(), &limit)
	if err != nil {
		return nil, err
	}
	response := &commonsv1.ListEmployeeGroupMembersResponse{PersonIds: ids}
	if len(ids) > h.page {
		response.PersonIds, response.More = ids[:h.page], true
	}
	return response, nil
}

// ListEmployeeGroupDays returns a page of the days of persons who are in a person's group on other
// days than today.
func (h *Handler) ListEmployeeGroupDays(ctx context.Context, req *commonsv1.ListEmployeeGroupDaysRequest) (*commonsv1.ListEmployeeGroupDaysResponse, error) {
	limit := h.page
	days, err := h.groups.otherDays(ctx, req.GetPersonId(), req.GetAfterPersonId(), &limit)
	if err != nil {
		return nil, err
	}
	response := &commonsv1.ListEmployeeGroupDaysResponse{More: len(days) > 0}
	for _, d := range days {
		response.Days = append(response.Days, &commonsv1.EmployeeGroupDays{PersonId: d.PersonID, From: int32(d.Days.From), To: int32(d.Days.To)})
	}
	return response, nil
}
