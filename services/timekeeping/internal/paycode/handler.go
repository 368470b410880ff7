package paycode

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

// Kind returns the declaration of pay codes. Other setup resources refer to them.
func Kind() *setup.Kind[*timekeepingv1.PayCode] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.PayCode]{Codes: Codes(), What: "pay code", Table: "pay_code"})
}

// OfUnit restricts references to pay codes of a unit.
func OfUnit(unit string) setup.Target {
	return Kind().Only(func(path string, p *timekeepingv1.PayCode) error {
		if p.GetUnit() != unit {
			return invalid("%s must be a pay code of the unit %s, not %s", path, unit, p.GetUnit())
		}
		return nil
	})
}

// Handler serves PayCodeService.
type Handler struct {
	timekeepingv1.UnsafePayCodeServiceServer
	resource *setupname.Resource[*timekeepingv1.PayCode]
}

var _ timekeepingv1.PayCodeServiceServer = (*Handler)(nil)

// New returns a Handler that keeps pay codes in the database of the pool.
func New(pool *pg.Pool, terms setupname.Terms) *Handler {
	names := setupname.New(pool, terms, nil, nil) // Persons have no pay codes.
	return &Handler{resource: setupname.NewResource(names, setup.Resource[*timekeepingv1.PayCode]{
		Kind: Kind(), Prepare: prepare, CheckUnused: checkUnused,
	})}
}

// ListPayCodes returns all pay codes by name, or the requested one.
func (h *Handler) ListPayCodes(ctx context.Context, req *timekeepingv1.ListPayCodesRequest) (*timekeepingv1.PayCodeList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	return &timekeepingv1.PayCodeList{Items: list}, err
}

// GetPayCode returns one pay code, or 404.
func (h *Handler) GetPayCode(ctx context.Context, req *timekeepingv1.GetPayCodeRequest) (*timekeepingv1.PayCode, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreatePayCode stores a new pay code.
func (h *Handler) CreatePayCode(ctx context.Context, req *timekeepingv1.PayCode) (*timekeepingv1.PayCode, error) {
	return h.resource.Create(ctx, req)
}

// UpdatePayCode replaces a pay code.
func (h *Handler) UpdatePayCode(ctx context.Context, req *timekeepingv1.UpdatePayCodeRequest) (*timekeepingv1.PayCode, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeletePayCode deletes a pay code that nothing refers to.
func (h *Handler) DeletePayCode(ctx context.Context, req *timekeepingv1.DeletePayCodeRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}
