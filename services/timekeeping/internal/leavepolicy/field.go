package leavepolicy

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Types of custom fields.
const (
	fieldText    = "TEXT"
	fieldNumber  = "NUMBER"
	fieldDate    = "DATE"
	fieldBoolean = "BOOLEAN"
	fieldList    = "LIST"

	// maxValue is the maximum length of a value of a custom field, in characters.
	maxValue = 1000
)

func fieldTypes() []string {
	return []string{fieldText, fieldNumber, fieldDate, fieldBoolean, fieldList}
}

// FieldHandler serves LeaveCustomFieldService.
type FieldHandler struct {
	timekeepingv1.UnsafeLeaveCustomFieldServiceServer
	resource setup.Resource[*timekeepingv1.LeaveCustomField]
}

var _ timekeepingv1.LeaveCustomFieldServiceServer = (*FieldHandler)(nil)

// NewFields returns a FieldHandler that keeps custom fields in the database of the pool.
func NewFields(pool *pg.Pool) *FieldHandler {
	return &FieldHandler{resource: setup.Resource[*timekeepingv1.LeaveCustomField]{
		Kind: Fields(), Pool: pool, Prepare: prepareField, Check: checkFieldType, CheckUnused: checkFieldUnused,
	}}
}

func prepareField(_ string, f *timekeepingv1.LeaveCustomField) (*timekeepingv1.LeaveCustomField, error) {
	err := checkControl("description", f.GetDescription())
	if err != nil {
		return nil, err
	}
	if f.Type, err = fieldType(f.GetType()); err != nil {
		return nil, err
	}
	if f.Type == "" {
		f.Type = fieldText
	}
	if (f.GetType() == fieldList) != (len(f.GetValues()) > 0) {
		return nil, invalid("values belong to a field of the type %s, and only to that", fieldList)
	}
	for i, value := range f.GetValues() {
		if strings.TrimSpace(value) == "" || slices.Contains(f.GetValues()[:i], value) {
			return nil, invalid("values[%d] is empty, or there is one like it", i)
		}
		if err := checkText(fmt.Sprintf("values[%d]", i), value, maxValue); err != nil {
			return nil, err
		}
	}
	if f.IsActive == nil {
		f.IsActive = proto.Bool(true)
	}
	return f, nil
}

func fieldType(text string) (string, error) {
	text = strings.ToUpper(text)
	if text != "" && !slices.Contains(fieldTypes(), text) {
		return "", invalid("type must be one of %s", strings.Join(fieldTypes(), ", "))
	}
	return text, nil
}

// checkFieldType returns an error if the type of a field changes while leave cases have values of
// the field.
func checkFieldType(ctx context.Context, tx pgx.Tx, id int64, f *timekeepingv1.LeaveCustomField) error {
	if id == 0 {
		return nil
	}
	was, err := Fields().GetForUpdate(ctx, tx, id)
	if err != nil {
		return err
	}
	if was.GetType() == f.GetType() {
		return nil
	}
	used, err := hasValues(ctx, tx, id)
	if err == nil && used {
		err = fault.Invalid(CodeInUse, fmt.Sprintf("The type of the custom field %q cannot change: leave cases have values of it.", f.GetName()))
	}
	return err
}

// hasValues reports whether leave cases have values of a custom field.
func hasValues(ctx context.Context, tx pgx.Tx, id int64) (used bool, err error) {
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leave_case_custom_field WHERE tenant_id = $1 AND leave_custom_field_id = $2)`,
		tenant.Of(ctx), id).Scan(&used); err != nil {
		return false, fmt.Errorf("find values of a custom field: %w", err)
	}
	return used, nil
}

func checkFieldUnused(ctx context.Context, tx pgx.Tx, f *timekeepingv1.LeaveCustomField) error {
	used, err := hasValues(ctx, tx, f.GetId())
	if err == nil && used {
		err = Fields().InUseError("A leave case", f)
	}
	return err
}

// CheckValue validates a value of a custom field, and returns its stored form.
func CheckValue(path string, f *timekeepingv1.LeaveCustomField, value string) (string, error) {
	if err := checkText(path, value, maxValue); err != nil {
		return "", err
	}
	switch f.GetType() {
	case fieldNumber:
		if _, err := strconv.ParseFloat(value, 64); err != nil || strings.ContainsAny(value, "xXpP_nN") {
			return "", invalid("%s must be a number: the custom field %q", path, f.GetName())
		}
	case fieldDate:
		if _, err := civil.ParseDate(value); err != nil {
			return "", invalid("%s must be a date YYYY-MM-DD: the custom field %q", path, f.GetName())
		}
	case fieldBoolean:
		if value = strings.ToLower(value); value != "true" && value != "false" {
			return "", invalid("%s must be true or false: the custom field %q", path, f.GetName())
		}
	case fieldList:
		if !slices.Contains(f.GetValues(), value) {
			return "", invalid("%s must be one of the values of the custom field %q", path, f.GetName())
		}
	}
	return value, nil
}

// ListLeaveCustomFields returns all custom fields by name, or those of one type.
func (h *FieldHandler) ListLeaveCustomFields(ctx context.Context, req *timekeepingv1.ListLeaveCustomFieldsRequest) (*timekeepingv1.LeaveCustomFieldList, error) {
	kind, err := fieldType(req.GetType())
	if err != nil {
		return nil, err
	}
	list, err := h.resource.List(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	return &timekeepingv1.LeaveCustomFieldList{Items: slices.DeleteFunc(list, func(f *timekeepingv1.LeaveCustomField) bool {
		return kind != "" && f.GetType() != kind
	})}, nil
}

// GetLeaveCustomField returns one custom field, or 404.
func (h *FieldHandler) GetLeaveCustomField(ctx context.Context, req *timekeepingv1.GetLeaveCustomFieldRequest) (*timekeepingv1.LeaveCustomField, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateLeaveCustomField stores a new custom field.
func (h *FieldHandler) CreateLeaveCustomField(ctx context.Context, req *timekeepingv1.LeaveCustomField) (*timekeepingv1.LeaveCustomField, error) {
	return h.resource.Create(ctx, req)
}

// UpdateLeaveCustomField replaces a custom field.
func (h *FieldHandler) UpdateLeaveCustomField(ctx context.Context, req *timekeepingv1.UpdateLeaveCustomFieldRequest) (*timekeepingv1.LeaveCustomField, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteLeaveCustomField deletes a custom field that nothing refers to.
func (h *FieldHandler) DeleteLeaveCustomField(ctx context.Context, req *timekeepingv1.DeleteLeaveCustomFieldRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
