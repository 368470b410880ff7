package configuration

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// Items serves ConfigurationItemService.
type Items struct {
	recruitingv1.UnsafeConfigurationItemServiceServer
	sources items
}

var _ recruitingv1.ConfigurationItemServiceServer = (*Items)(nil)

// items are the operations of a kind that has a name alone.
type items struct{ setup.Resource[*item] }

// NewItems returns the operations on the database of a pool.
func NewItems(pool *pg.Pool) *Items {
	return &Items{sources: items{newResource[*item](pool, "applicant source", "applicant_source", "applicant-sources")}}
}

func (r *items) list(ctx context.Context) (*recruitingv1.ConfigurationItemList, error) {
	list, err := r.List(ctx, nil, nil)
	return &recruitingv1.ConfigurationItemList{Items: list}, err
}

// ListApplicantSources returns all applicant sources, by name.
func (h *Items) ListApplicantSources(ctx context.Context, _ *recruitingv1.ListConfigurationRequest) (*recruitingv1.ConfigurationItemList, error) {
	return h.sources.list(ctx)
}

// GetApplicantSource returns one applicant source, or 404.
func (h *Items) GetApplicantSource(ctx context.Context, req *recruitingv1.GetConfigurationRequest) (*item, error) {
	return h.sources.GetGUID(ctx, req.GetId())
}

// CreateApplicantSource stores a new applicant source.
func (h *Items) CreateApplicantSource(ctx context.Context, req *item) (*item, error) {
	return h.sources.Create(ctx, req)
}
