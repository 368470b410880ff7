package leavepolicy

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
)

// ProfileHandler serves LeaveProfileService.
type ProfileHandler struct {
	timekeepingv1.UnsafeLeaveProfileServiceServer
	resource setup.Resource[*timekeepingv1.LeaveProfile]
}

var _ timekeepingv1.LeaveProfileServiceServer = (*ProfileHandler)(nil)

// NewProfiles returns a ProfileHandler that keeps leave profiles in the database of the pool.
func NewProfiles(pool *pg.Pool) *ProfileHandler {
	return &ProfileHandler{resource: setup.Resource[*timekeepingv1.LeaveProfile]{
		Kind: Profiles(), Pool: pool, Prepare: prepareProfile, CheckUnused: checkProfileUnused,
	}}
}

func prepareProfile(_ string, p *timekeepingv1.LeaveProfile) (*timekeepingv1.LeaveProfile, error) {
	if err := checkControl("description", p.GetDescription()); err != nil {
		return nil, err
	}
	seen := map[int64]bool{}
	for i, c := range p.GetLeaveProfileCategory().GetItems() {
		e, ok := leavesetup.Categories().Find(&commonv1.Ref{Id: c.Id, Qualifier: c.Qualifier})
		if !ok {
			return nil, fault.Invalid(leavesetup.CodeCategoryUnknown, fmt.Sprintf("leaveProfileCategory[%d] is not a leave category.", i))
		}
		if seen[e.ID] {
			return nil, invalid("leaveProfileCategory[%d] repeats %q", i, e.Name)
		}
		c.Id, c.Qualifier, seen[e.ID] = &e.ID, &e.Name, true
		for _, d := range c.GetLeaveProfileCategoryConfigurableData() {
			d.Required = proto.Bool(d.GetRequired())
		}
	}
	if p.IsActive == nil {
		p.IsActive = proto.Bool(true)
	}
	if p.GetLeaveProfileCategory() == nil {
		p.LeaveProfileCategory = &timekeepingv1.LeaveProfileCategoryList{}
	}
	return p, nil
}

// checkProfileUnused returns an error if employees have a leave profile, so that it cannot be
// deleted.
func checkProfileUnused(ctx context.Context, tx pgx.Tx, p *timekeepingv1.LeaveProfile) error {
	var assigned bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM leave_profile_assignment WHERE tenant_id = $1 AND leave_profile_id = $2)`, tenant.Of(ctx), p.GetId()).Scan(&assigned); err != nil {
		return fmt.Errorf("find employees of a leave profile: %w", err)
	}
	if assigned {
		return Profiles().InUseError("An employee", p)
	}
	return nil
}

// Of returns the leave profile of an employee, and its entry for the category of a case. The
// profile is nil, and all categories are open, if the employee has no profile or an inactive one.
// The entry is nil if the profile does not have the category.
func Of(ctx context.Context, db pg.Querier, employeeID, categoryID int64) (*timekeepingv1.LeaveProfile, *timekeepingv1.LeaveProfileCategory, error) {
	p, err := AssignedTo(ctx, db, employeeID)
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

// AssignedTo returns the leave profile that is assigned to an employee, or nil.
func AssignedTo(ctx context.Context, db pg.Querier, employeeID int64) (*timekeepingv1.LeaveProfile, error) {
	var id int64
	err := db.QueryRow(ctx, `SELECT leave_profile_id FROM leave_profile_assignment WHERE tenant_id = $1 AND employee_id = $2`, tenant.Of(ctx), employeeID).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the leave profile of an employee: %w", err)
	}
	found, err := Profiles().Find(ctx, db, []int64{id}, nil)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// ListLeaveProfiles returns all leave profiles by name, or the requested one.
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

// ErrClosed means that an item is not open to a leave case: it is inactive, or the category in the
// employee's leave profile does not contain it.
var ErrClosed = errors.New("not open to the leave case")

// RuleOfCase returns the rule that a ref names, for a case of an employee in a category, and locks
// it against deletion. It returns ErrClosed if the rule is not open to the case.
func RuleOfCase(ctx context.Context, tx pgx.Tx, employeeID, categoryID int64, ref *commonv1.Ref) (*timekeepingv1.LeaveRule, error) {
	found, err := Rules().Resolve(ctx, tx, "rule", ref)
	if err != nil {
		return nil, err
	}
	return openTo(ctx, tx, employeeID, categoryID, found, found.GetIsActive(), (*timekeepingv1.LeaveProfileCategory).GetLeaveProfileCategoryRule)
}

// TypeOfCase does the same as RuleOfCase for leave types.
func TypeOfCase(ctx context.Context, tx pgx.Tx, employeeID, categoryID int64, ref *commonv1.Ref) (*timekeepingv1.LeaveType, error) {
	found, err := Types().Resolve(ctx, tx, "leaveType", ref)
	if err != nil {
		return nil, err
	}
	return openTo(ctx, tx, employeeID, categoryID, found, found.GetEnabled(), (*timekeepingv1.LeaveProfileCategory).GetLeaveProfileCategoryType)
}

// FieldOfCase does the same as RuleOfCase for custom fields.
func FieldOfCase(ctx context.Context, tx pgx.Tx, employeeID, categoryID int64, ref *commonv1.Ref) (*timekeepingv1.LeaveCustomField, error) {
	found, err := Fields().Resolve(ctx, tx, "customField", ref)
	if err != nil {
		return nil, err
	}
	return openTo(ctx, tx, employeeID, categoryID, found, found.GetIsActive(), func(c *timekeepingv1.LeaveProfileCategory) []*commonv1.Ref {
		var refs []*commonv1.Ref
		for _, d := range c.GetLeaveProfileCategoryConfigurableData() {
			refs = append(refs, &commonv1.Ref{Id: d.Id})
		}
		return refs
	})
}

func openTo[T setup.NumberedMessage](ctx context.Context, db pg.Querier, employeeID, categoryID int64, thing T, active bool, of func(*timekeepingv1.LeaveProfileCategory) []*commonv1.Ref) (T, error) {
	_, category, err := Of(ctx, db, employeeID, categoryID)
	if err == nil && (!active || len(of(category)) > 0 && !points(of(category), thing.GetId())) {
		err = ErrClosed
	}
	return thing, err
}

// ProfileNamed returns the active leave profile with a name, and locks it against deletion.
func ProfileNamed(ctx context.Context, tx pgx.Tx, name string) (*timekeepingv1.LeaveProfile, error) {
	found, err := Profiles().Resolve(ctx, tx, "assignmentProfile", &commonv1.Ref{Qualifier: &name})
	if err != nil {
		return nil, err
	}
	if !found.GetIsActive() {
		return nil, invalid("assignmentProfile is not active: the leave profile %q", found.GetName())
	}
	return found, nil
}
