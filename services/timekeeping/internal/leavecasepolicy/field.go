package leavecasepolicy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// CaseFields serves LeaveCaseCustomFieldService.
type CaseFields struct {
	timekeepingv1.UnsafeLeaveCaseCustomFieldServiceServer
	pool    *pg.Pool
	persons *person.Directory
}

// NewCaseFields returns the custom fields of the cases in the database of the pool.
func NewCaseFields(pool *pg.Pool, persons *person.Directory) *CaseFields {
	return &CaseFields{pool: pool, persons: persons}
}

// ListLeaveCaseCustomFields returns the custom fields of a case by name.
func (h *CaseFields) ListLeaveCaseCustomFields(ctx context.Context, req *timekeepingv1.ListLeaveCaseCustomFieldsRequest) (*timekeepingv1.LeaveCaseCustomFieldList, error) {
	out := &timekeepingv1.LeaveCaseCustomFieldList{}
	err := inCase(ctx, h.pool, h.persons, req.LeaveCaseId, req.GetCode(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) (err error) {
		out.Items, err = customFields(ctx, tx, c)
		return err
	})
	return out, err
}

// customFields returns the custom fields that the profile gives to a case, and the fields that have a
// value.
func customFields(ctx context.Context, tx pgx.Tx, c *leavecase.Case) ([]*timekeepingv1.LeaveCaseCustomField, error) {
	rows, err := tx.Query(ctx, `SELECT leave_custom_field_id, value FROM leave_case_custom_field WHERE tenant_id = $1 AND leave_case_id = $2`, tenant.Of(ctx), c.ID)
	if err != nil {
		return nil, err
	}
	values := map[int64]string{}
	var ids []int64
	var id int64
	var value string
	if _, err := pgx.ForEachRow(rows, []any{&id, &value}, func() error {
		values[id], ids = value, append(ids, id)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read custom fields of a leave case: %w", err)
	}
	required, err := requiredFields(ctx, tx, c)
	if err != nil {
		return nil, err
	}
	for id := range required {
		ids = append(ids, id)
	}
	found, err := leavepolicy.Fields().Find(ctx, tx, ids, nil)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *timekeepingv1.LeaveCustomField) int { return strings.Compare(a.GetName(), b.GetName()) })
	var out []*timekeepingv1.LeaveCaseCustomField
	for _, f := range found {
		item := &timekeepingv1.LeaveCaseCustomField{
			CustomField: &commonv1.Ref{Id: f.Id, Qualifier: proto.String(f.GetName()), Name: proto.String(f.GetName())},
			Type:        f.GetType(), Required: proto.Bool(required[f.GetId()]),
		}
		if value, ok := values[f.GetId()]; ok {
			item.Value = &value
		}
		out = append(out, item)
	}
	return out, nil
}

// requiredFields returns, for each custom field of the case's category in the employee's profile,
// whether a value must stay once it is set.
func requiredFields(ctx context.Context, db pg.Querier, c *leavecase.Case) (map[int64]bool, error) {
	_, category, err := leavepolicy.Of(ctx, db, c.EmployeeID, c.Body().GetCategory().GetId())
	if err != nil {
		return nil, err
	}
	required := map[int64]bool{}
	for _, d := range category.GetLeaveProfileCategoryConfigurableData() {
		required[d.GetId()] = d.GetRequired()
	}
	return required, nil
}

// UpdateLeaveCaseCustomFields sets either all values of a case or none.
func (h *CaseFields) UpdateLeaveCaseCustomFields(ctx context.Context, req *timekeepingv1.LeaveCaseCustomFields) (*timekeepingv1.LeaveCaseCustomFieldList, error) {
	if len(req.GetCustomFields()) == 0 {
		return nil, fault.Invalid(leavepolicy.CodeMissing, "customFields is empty.")
	}
	out := &timekeepingv1.LeaveCaseCustomFieldList{}
	err := changeCase(ctx, h.pool, h.persons, req.GetLeaveCase(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		required, err := requiredFields(ctx, tx, c)
		if err != nil {
			return err
		}
		seen := map[int64]bool{}
		for i, item := range req.GetCustomFields() {
			path := fmt.Sprintf("customFields[%d]", i)
			id, err := setField(ctx, tx, c, path, item, required)
			if err != nil {
				return err
			}
			if seen[id] {
				return fault.Invalid(leavepolicy.CodeInvalid, path+" names a field that an earlier one names.")
			}
			seen[id] = true
		}
		out.Items, err = customFields(ctx, tx, c)
		return err
	})
	return out, err
}

// setField sets or clears the value of one field of a case, and returns the id of the field.
func setField(ctx context.Context, tx pgx.Tx, c *leavecase.Case, path string, item *timekeepingv1.LeaveCaseCustomField, required map[int64]bool) (int64, error) {
	tenantID := tenant.Of(ctx)
	if item.GetCustomField() == nil {
		return 0, fault.Invalid(leavepolicy.CodeMissing, path+".customField is missing.")
	}
	f, err := leavepolicy.FieldOfCase(ctx, tx, c.EmployeeID, c.Body().GetCategory().GetId(), item.GetCustomField())
	if errors.Is(err, leavepolicy.ErrClosed) {
		return 0, fault.Invalid(CodeNotInProfile, path+" is not active, or not one of the category in the leave profile of the employee.")
	}
	if err != nil {
		return 0, err
	}
	if item.GetValue() == "" {
		done, err := tx.Exec(ctx, `DELETE FROM leave_case_custom_field WHERE tenant_id = $1 AND leave_case_id = $2 AND leave_custom_field_id = $3`, tenantID, c.ID, f.GetId())
		if err == nil && done.RowsAffected() > 0 && required[f.GetId()] {
			err = fault.Invalid(CodeRequired, fmt.Sprintf("%s: the custom field %q is required. Give it another value.", path, f.GetName()))
		}
		return f.GetId(), err
	}
	value, err := leavepolicy.CheckValue(path+".value", f, item.GetValue())
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `INSERT INTO leave_case_custom_field (tenant_id, leave_case_id, leave_custom_field_id, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, leave_case_id, leave_custom_field_id) DO UPDATE SET value = excluded.value`, tenantID, c.ID, f.GetId(), value)
	if err != nil {
		return 0, fmt.Errorf("store a custom field of a leave case: %w", err)
	}
	return f.GetId(), nil
}
