package query

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
)

// Caller returns the user name of the caller, or "" for a service.
func Caller(ctx context.Context) string {
	p, ok := authn.From(ctx)
	if !ok {
		return ""
	}
	return p.Subject
}
