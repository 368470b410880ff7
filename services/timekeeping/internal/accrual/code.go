package accrual

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// CodeHandler serves AccrualCodeService.
type CodeHandler struct {
	timekeepingv1.UnsafeAccrualCodeServiceServer
	resource setup.Resource[*timekeepingv1.AccrualCode]
}

var _ timekeepingv1.AccrualCodeServiceServer = (*CodeHandler)(nil)

// NewCodes returns a CodeHandler that keeps accrual codes in the database of the pool.
func NewCodes(pool *pg.Pool) *CodeHandler {
	return &CodeHandler{resource: setup.Resource[*timekeepingv1.AccrualCode]{Kind: accrualCodes(), Pool: pool, Prepare: prepareCode}}
}

// DeductedPayCodes returns the pay codes whose hours accrual codes deduct.
func DeductedPayCodes(ctx context.Context, tx pgx.Tx) ([]*commonv1.Ref, error) {
	list, err := accrualCodes().All(ctx, tx)
	var refs []*commonv1.Ref
	for _, c := range list {
		refs = append(refs, c.GetPayCodes()...)
	}
	return refs, err
}

// ListAccrualCodes returns all accrual codes by name, or the requested one.
func (h *CodeHandler) ListAccrualCodes(ctx context.Context, req *timekeepingv1.ListAccrualCodesRequest) (*timekeepingv1.AccrualCodeList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	return &timekeepingv1.AccrualCodeList{Items: list}, err
}

// GetAccrualCode returns one accrual code, or 404.
func (h *CodeHandler) GetAccrualCode(ctx context.Context, req *timekeepingv1.GetAccrualCodeRequest) (*timekeepingv1.AccrualCode, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateAccrualCode stores a new accrual code.
func (h *CodeHandler) CreateAccrualCode(ctx context.Context, req *timekeepingv1.AccrualCode) (*timekeepingv1.AccrualCode, error) {
	return h.resource.Create(ctx, req)
}

// UpdateAccrualCode replaces an accrual code.
func (h *CodeHandler) UpdateAccrualCode(ctx context.Context, req *timekeepingv1.UpdateAccrualCodeRequest) (*timekeepingv1.AccrualCode, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteAccrualCode deletes an accrual code that no accrual profile refers to.
func (h *CodeHandler) DeleteAccrualCode(ctx context.Context, req *timekeepingv1.DeleteAccrualCodeRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
