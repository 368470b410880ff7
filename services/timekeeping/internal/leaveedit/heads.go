package leaveedit

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// mostHeads bounds the employees of one page of heads.
const mostHeads = 10000

// ListLeaveEditHeads answers how far the histories of employees are, of all
// tenants, in the order of tenants and employees.
func (h *Handler) ListLeaveEditHeads(ctx context.Context, req *timekeepingv1.ListLeaveEditHeadsRequest) (*timekeepingv1.ListLeaveEditHeadsResponse, error) {
	size := int(req.GetPageSize())
	if size <= 0 || size > mostHeads {
		size = mostHeads
	}
	rows, err := h.pool.Query(tenant.All(ctx), `SELECT tenant_id, employee_id, version FROM leave_edit_head
		WHERE (tenant_id, employee_id) > ($1, $2) ORDER BY tenant_id, employee_id LIMIT $3`,
		req.GetAfter().GetTenantId(), req.GetAfter().GetEmployeeId(), size+1)
	if err != nil {
		return nil, err
	}
	heads, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*timekeepingv1.LeaveEditHead, error) {
		head := &timekeepingv1.LeaveEditHead{}
		return head, row.Scan(&head.TenantId, &head.EmployeeId, &head.Version)
	})
	if err != nil {
		return nil, fmt.Errorf("list the heads of leave edits: %w", err)
	}
	if len(heads) > size {
		return &timekeepingv1.ListLeaveEditHeadsResponse{Heads: heads[:size], More: true}, nil
	}
	return &timekeepingv1.ListLeaveEditHeadsResponse{Heads: heads}, nil
}
