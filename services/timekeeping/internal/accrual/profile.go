package accrual

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/setup"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

// ProfileHandler serves AccrualProfileService.
type ProfileHandler struct {
	timekeepingv1.UnsafeAccrualProfileServiceServer
	resource *setupname.Resource[*timekeepingv1.AccrualProfile]
}

var _ timekeepingv1.AccrualProfileServiceServer = (*ProfileHandler)(nil)

// NewProfiles returns a ProfileHandler that keeps accrual profiles in the database of the names.
func NewProfiles(names *setupname.Names) *ProfileHandler {
	return &ProfileHandler{resource: setupname.NewResource(names, setup.Resource[*timekeepingv1.AccrualProfile]{Kind: accrualProfiles(), Prepare: prepareProfile})}
}

// ListAccrualProfiles returns all accrual profiles by name, or the requested one.
func (h *ProfileHandler) ListAccrualProfiles(ctx context.Context, req *timekeepingv1.ListAccrualProfilesRequest) (*timekeepingv1.AccrualProfileList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	return &timekeepingv1.AccrualProfileList{Items: list}, err
}

// GetAccrualProfile returns one accrual profile, or 404.
func (h *ProfileHandler) GetAccrualProfile(ctx context.Context, req *timekeepingv1.GetAccrualProfileRequest) (*timekeepingv1.AccrualProfile, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateAccrualProfile stores a new accrual profile.
func (h *ProfileHandler) CreateAccrualProfile(ctx context.Context, req *timekeepingv1.AccrualProfile) (*timekeepingv1.AccrualProfile, error) {
	return h.resource.Create(ctx, req)
}

// UpdateAccrualProfile replaces an accrual profile.
func (h *ProfileHandler) UpdateAccrualProfile(ctx context.Context, req *timekeepingv1.UpdateAccrualProfileRequest) (*timekeepingv1.AccrualProfile, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteAccrualProfile deletes an accrual profile that no person has.
func (h *ProfileHandler) DeleteAccrualProfile(ctx context.Context, req *timekeepingv1.DeleteAccrualProfileRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
