package revoked

import (
	"context"

	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// pageSize is the number of revocations in one response, which is then about 400 KB at most.
const pageSize = 10_000

// Handler serves RevocationService.
type Handler struct {
	authv1.UnsafeRevocationServiceServer
	store *Store
	page  int
}

// NewHandler returns a Handler.
func NewHandler(store *Store) *Handler { return &Handler{store: store, page: pageSize} }

// ListRevocations returns a page of the revocations of all tenants.
func (h *Handler) ListRevocations(ctx context.Context, req *authv1.ListRevocationsRequest) (*authv1.ListRevocationsResponse, error) {
	version, key := req.GetSince(), ""
	if after := req.GetAfter(); after != nil {
		version, key = after.GetVersion(), after.GetKey()
	}
	rows, horizon, err := h.store.page(ctx, version, key, h.page)
	if err != nil {
		return nil, err
	}
	response := &authv1.ListRevocationsResponse{Horizon: horizon}
	for _, r := range rows {
		response.Revocations = append(response.Revocations, &authv1.Revocation{Key: r.key, ExpiresAt: r.expires.Unix() + 1})
	}
	if len(rows) == h.page {
		last := rows[len(rows)-1]
		response.Next = &authv1.RevocationPosition{Version: last.version, Key: last.key}
	}
	return response, nil
}
