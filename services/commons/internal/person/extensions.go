package person

import (
	"context"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// MultiReadPersonExtensions returns one extension of each person, or all of them, in the
// order of the request. Unknown persons fail separately.
func (h *Handler) MultiReadPersonExtensions(ctx context.Context, req *commonsv1.MultiReadPersonExtensionsRequest) (*commonsv1.PersonExtensionList, error) {
	return h.extensions.MultiRead(ctx, req)
}

// GetPersonExtension returns one extension of a person today, or all of them.
func (h *Handler) GetPersonExtension(ctx context.Context, req *commonsv1.GetPersonExtensionRequest) (*commonsv1.PersonExtension, error) {
	return h.extensions.Get(ctx, req)
}
