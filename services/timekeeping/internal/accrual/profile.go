package accrual

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// ProfileHandler serves AccrualProfileService.
type ProfileHandler struct {
	timekeepingv1.UnsafeAccrualProfileServiceServer
	resource namedstore.Resource[*timekeepingv1.AccrualProfile]
}

var _ timekeepingv1.AccrualProfileServiceServer = (*ProfileHandler)(nil)

// NewProfiles returns a ProfileHandler that keeps accrual profiles in the database of
// the pool.
func NewProfiles(pool *pg.Pool) *ProfileHandler {
	h := &ProfileHandler{}
	h.resource = namedstore.Resource[*timekeepingv1.AccrualProfile]{
		Store: accrualProfiles(), Pool: pool, Prepare: prepareProfile, Within: withinProfile, Show: h.setNames,
	}
	return h
}

// withinProfile writes the accrual codes of a profile by id and name, and keeps them from
// being deleted.
func withinProfile(ctx context.Context, tx pgx.Tx, tenantID, _ int64, p *timekeepingv1.AccrualProfile) error {
	seen := map[int64]bool{}
	for i, policy := range p.GetAccrualPolicies() {
		path := fmt.Sprintf("accrualPolicies[%d].accrualCode", i)
		found, err := accrualCodes().Read(ctx, tx, tenantID, path, []*commonv1.Ref{policy.GetAccrualCode()})
		if err != nil {
			return err
		}
		if seen[found[0].GetId()] {
			return invalid("%s repeats %q", path, found[0].GetName())
		}
		seen[found[0].GetId()] = true
		if err := lockReferenced(ctx, tx, tenantID, "accrual_code", path, policy.GetAccrualCode(), found[0]); err != nil {
			return err
		}
	}
	return nil
}

func (h *ProfileHandler) setNames(ctx context.Context, list ...*timekeepingv1.AccrualProfile) error {
	var refs []*commonv1.Ref
	for _, p := range list {
		for _, policy := range p.GetAccrualPolicies() {
			refs = append(refs, policy.GetAccrualCode())
		}
	}
	return accrualCodes().SetNames(ctx, h.resource.Pool, refs...)
}

// ListAccrualProfiles returns all accrual profiles by name, or the one that is asked for.
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

// DeleteAccrualProfile deletes an accrual profile.
func (h *ProfileHandler) DeleteAccrualProfile(ctx context.Context, req *timekeepingv1.DeleteAccrualProfileRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
