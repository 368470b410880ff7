package leavepolicy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
)

// ProfileHandler serves LeaveProfileService.
type ProfileHandler struct {
	timekeepingv1.UnsafeLeaveProfileServiceServer
	resource namedstore.Resource[*timekeepingv1.LeaveProfile]
}

var _ timekeepingv1.LeaveProfileServiceServer = (*ProfileHandler)(nil)

// NewProfiles returns a ProfileHandler that keeps leave profiles in the database of
// the pool.
func NewProfiles(pool *pg.Pool) *ProfileHandler {
	h := &ProfileHandler{}
	h.resource = namedstore.Resource[*timekeepingv1.LeaveProfile]{
		Store: Profiles(), Pool: pool, Prepare: prepareProfile, Within: withinProfile, Show: h.setNames, Unused: profileUnused,
	}
	return h
}

func prepareProfile(p *timekeepingv1.LeaveProfile) (*timekeepingv1.LeaveProfile, error) {
	var err error
	if p.Name, err = checkNamed("leaveProfile", p); err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	for i, c := range p.GetLeaveProfileCategory().GetItems() {
		e, ok := leavesetup.Categories().Find(&commonv1.Ref{Id: c.Id, Qualifier: c.Qualifier})
		if !ok {
			return nil, fault.Invalid(leavesetup.CodeCategoryUnknown, fmt.Sprintf("leaveProfileCategory[%d] is no leave category.", i))
		}
		if seen[e.ID] {
			return nil, invalid("leaveProfileCategory[%d] repeats %q", i, e.Name)
		}
		c.Id, c.Qualifier, seen[e.ID] = &e.ID, &e.Name, true
	}
	if p.IsActive == nil {
		p.IsActive = proto.Bool(true)
	}
	if p.GetLeaveProfileCategory() == nil {
		p.LeaveProfileCategory = &timekeepingv1.LeaveProfileCategoryList{}
	}
	return p, nil
}

// withinProfile checks that what a profile refers to is there.
func withinProfile(ctx context.Context, tx pgx.Tx, tenantID, _ int64, p *timekeepingv1.LeaveProfile) error {
	for i, c := range p.GetLeaveProfileCategory().GetItems() {
		path := fmt.Sprintf("leaveProfileCategory[%d].", i)
		if _, err := referred(ctx, tx, tenantID, Rules(), "leave_rule", path+"leaveProfileCategoryRule", c.GetLeaveProfileCategoryRule()); err != nil {
			return err
		}
		if _, err := referred(ctx, tx, tenantID, Types(), "leave_type", path+"leaveProfileCategoryType", c.GetLeaveProfileCategoryType()); err != nil {
			return err
		}
		refs := make([]*commonv1.Ref, len(c.GetLeaveProfileCategoryConfigurableData()))
		for i, d := range c.GetLeaveProfileCategoryConfigurableData() {
			refs[i] = &commonv1.Ref{Id: d.Id, Qualifier: d.Qualifier}
		}
		if _, err := referred(ctx, tx, tenantID, Fields(), "leave_custom_field", path+"leaveProfileCategoryConfigurableData", refs); err != nil {
			return err
		}
		for i, d := range c.GetLeaveProfileCategoryConfigurableData() {
			d.Id, d.Qualifier, d.Required = refs[i].Id, refs[i].Qualifier, proto.Bool(d.GetRequired())
		}
	}
	return nil
}

func profileUnused(ctx context.Context, tx pgx.Tx, tenantID int64, p *timekeepingv1.LeaveProfile) error {
	var assigned bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leave_profile_assignment WHERE tenant_id = $1 AND leave_profile_id = $2)`, tenantID, p.GetId()).Scan(&assigned); err != nil {
		return fmt.Errorf("look for employees of a leave profile: %w", err)
	}
	if assigned {
		return inUse("An employee has it; nobody else", "leave profile", p.GetName())
	}
	return nil
}

// profileUsing returns how a message calls a profile with a category that fits, or
// "" when none has one.
func profileUsing(ctx context.Context, tx pgx.Tx, tenantID int64, fits func(*timekeepingv1.LeaveProfileCategory) bool) (string, error) {
	profiles, err := Profiles().All(ctx, tx, tenantID)
	if err != nil {
		return "", err
	}
	for _, p := range profiles {
		for _, c := range p.GetLeaveProfileCategory().GetItems() {
			if fits(c) {
				return fmt.Sprintf("The leave profile %q", p.GetName()), nil
			}
		}
	}
	return "", nil
}

func orInUse(err error, by, what, name string) error {
	if err != nil {
		return err
	}
	return inUse(by, what, name)
}

// Of returns the leave profile of an employee, whose category is that of a case: nil,
// and nothing is closed to the employee, without a profile or an inactive one. The
// second result is nil when the profile does not have the category.
func Of(ctx context.Context, db pg.Querier, tenantID, employeeID, categoryID int64) (*timekeepingv1.LeaveProfile, *timekeepingv1.LeaveProfileCategory, error) {
	p, err := AssignedTo(ctx, db, tenantID, employeeID)
	if err != nil || p == nil || !p.GetIsActive() {
		return nil, nil, err
	}
	for _, c := range p.GetLeaveProfileCategory().GetItems() {
		if c.GetId() == categoryID {
			return p, c, nil
		}
	}
	return p, nil, nil
}

// AssignedTo returns the leave profile that an employee was given, or nil.
func AssignedTo(ctx context.Context, db pg.Querier, tenantID, employeeID int64) (*timekeepingv1.LeaveProfile, error) {
	var id int64
	err := db.QueryRow(ctx, `SELECT leave_profile_id FROM leave_profile_assignment WHERE tenant_id = $1 AND employee_id = $2`, tenantID, employeeID).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the leave profile of an employee: %w", err)
	}
	found, err := Profiles().Find(ctx, db, tenantID, []int64{id}, nil)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func (h *ProfileHandler) setNames(ctx context.Context, list ...*timekeepingv1.LeaveProfile) error {
	var rules, types, fields []*commonv1.Ref
	var data []*timekeepingv1.LeaveProfileConfigurableData
	for _, p := range list {
		for _, c := range p.GetLeaveProfileCategory().GetItems() {
			rules, types = append(rules, c.GetLeaveProfileCategoryRule()...), append(types, c.GetLeaveProfileCategoryType()...)
			for _, d := range c.GetLeaveProfileCategoryConfigurableData() {
				data, fields = append(data, d), append(fields, &commonv1.Ref{Id: d.Id, Qualifier: d.Qualifier})
			}
		}
	}
	if err := Rules().SetNames(ctx, h.resource.Pool, rules...); err != nil {
		return err
	}
	if err := Types().SetNames(ctx, h.resource.Pool, types...); err != nil {
		return err
	}
	err := Fields().SetNames(ctx, h.resource.Pool, fields...)
	for i, d := range data {
		d.Qualifier = fields[i].Qualifier
	}
	return err
}

// ListLeaveProfiles returns all leave profiles by name, or the one that is asked
// for.
func (h *ProfileHandler) ListLeaveProfiles(ctx context.Context, req *timekeepingv1.ListLeaveProfilesRequest) (*timekeepingv1.LeaveProfileList, error) {
	list, err := h.resource.List(ctx, nil, req.Qualifier)
	return &timekeepingv1.LeaveProfileList{Items: list}, err
}

// GetLeaveProfile returns one leave profile, or 404.
func (h *ProfileHandler) GetLeaveProfile(ctx context.Context, req *timekeepingv1.GetLeaveProfileRequest) (*timekeepingv1.LeaveProfile, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateLeaveProfile stores a new leave profile.
func (h *ProfileHandler) CreateLeaveProfile(ctx context.Context, req *timekeepingv1.LeaveProfile) (*timekeepingv1.LeaveProfile, error) {
	return h.resource.Create(ctx, req)
}

// UpdateLeaveProfile replaces a leave profile.
func (h *ProfileHandler) UpdateLeaveProfile(ctx context.Context, req *timekeepingv1.UpdateLeaveProfileRequest) (*timekeepingv1.LeaveProfile, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteLeaveProfile deletes a leave profile that no employee has.
func (h *ProfileHandler) DeleteLeaveProfile(ctx context.Context, req *timekeepingv1.DeleteLeaveProfileRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// ErrClosed says that something is not open to a leave case: it is not active, or the
// leave profile of the employee has others for the category.
var ErrClosed = errors.New("not open to the leave case")

// RuleOfCase returns the rule that a ref names, for a case of an employee in a
// category, and keeps it from being deleted: ErrClosed when it is not open to it.
func RuleOfCase(ctx context.Context, tx pgx.Tx, tenantID, employeeID, categoryID int64, ref *commonv1.Ref) (*timekeepingv1.LeaveRule, error) {
	found, err := referred(ctx, tx, tenantID, Rules(), "leave_rule", "rule", []*commonv1.Ref{ref})
	if err != nil {
		return nil, err
	}
	return openTo(ctx, tx, tenantID, employeeID, categoryID, found[0], found[0].GetIsActive(), (*timekeepingv1.LeaveProfileCategory).GetLeaveProfileCategoryRule)
}

// TypeOfCase is as RuleOfCase, for leave types.
func TypeOfCase(ctx context.Context, tx pgx.Tx, tenantID, employeeID, categoryID int64, ref *commonv1.Ref) (*timekeepingv1.LeaveType, error) {
	found, err := referred(ctx, tx, tenantID, Types(), "leave_type", "leaveType", []*commonv1.Ref{ref})
	if err != nil {
		return nil, err
	}
	return openTo(ctx, tx, tenantID, employeeID, categoryID, found[0], found[0].GetEnabled(), (*timekeepingv1.LeaveProfileCategory).GetLeaveProfileCategoryType)
}

// FieldOfCase is as RuleOfCase, for custom fields.
func FieldOfCase(ctx context.Context, tx pgx.Tx, tenantID, employeeID, categoryID int64, ref *commonv1.Ref) (*timekeepingv1.LeaveCustomField, error) {
	found, err := referred(ctx, tx, tenantID, Fields(), "leave_custom_field", "customField", []*commonv1.Ref{ref})
	if err != nil {
		return nil, err
	}
	return openTo(ctx, tx, tenantID, employeeID, categoryID, found[0], found[0].GetIsActive(), func(c *timekeepingv1.LeaveProfileCategory) []*commonv1.Ref {
		var refs []*commonv1.Ref
		for _, d := range c.GetLeaveProfileCategoryConfigurableData() {
			refs = append(refs, &commonv1.Ref{Id: d.Id})
		}
		return refs
	})
}

func openTo[T namedstore.Named](ctx context.Context, db pg.Querier, tenantID, employeeID, categoryID int64, thing T, active bool, of func(*timekeepingv1.LeaveProfileCategory) []*commonv1.Ref) (T, error) {
	_, category, err := Of(ctx, db, tenantID, employeeID, categoryID)
	if err == nil && (!active || len(of(category)) > 0 && !points(of(category), thing.GetId())) {
		err = ErrClosed
	}
	return thing, err
}

// ProfileNamed returns the active leave profile with a name, and keeps it from being
// deleted.
func ProfileNamed(ctx context.Context, tx pgx.Tx, tenantID int64, name string) (*timekeepingv1.LeaveProfile, error) {
	found, err := referred(ctx, tx, tenantID, Profiles(), "leave_profile", "assignmentProfile", []*commonv1.Ref{{Qualifier: &name}})
	if err != nil {
		return nil, err
	}
	if !found[0].GetIsActive() {
		return nil, invalid("assignmentProfile is not active: the leave profile %q", found[0].GetName())
	}
	return found[0], nil
}
