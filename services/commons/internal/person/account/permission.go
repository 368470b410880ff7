package account

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// checkBatch is the maximum number of users in one permission check.
const checkBatch = 1000

// deferredInitiator returns the initiator of deferred work: the caller and the request. Without a
// caller it contains only the request.
func deferredInitiator(ctx context.Context) *authv1.Initiator {
	by := &authv1.Initiator{RequestId: obs.RequestFrom(ctx).ID}
	if p, ok := authn.From(ctx); ok {
		by.UserName, by.PersonId, by.ClientId = p.Subject, p.PersonID, p.Client
	}
	return by
}

// CheckChanges asks auth, before anything is written, which changes of users the caller may
// not make. It returns the errors, in the order of the changes.
func (a *Accounts) CheckChanges(ctx context.Context, changes []*authv1.UserChange) ([]error, error) {
	refused := make([]error, len(changes))
	for first := 0; first < len(changes); first += checkBatch {
		part := changes[first:min(first+checkBatch, len(changes))]
		_, err := a.users.CheckUserChanges(ctx, &authv1.CheckUserChangesRequest{Changes: part})
		if err == nil {
			continue
		}
		f := fault.FromError(err)
		if len(f.Details.GetErrorOffsets()) == 0 {
			return nil, fmt.Errorf("ask for changes of users: %w", err)
		}
		for _, at := range f.Details.GetErrorOffsets() {
			if int(at) < len(part) {
				refused[first+int(at)] = userError(f, int(at))
			}
		}
	}
	return refused, nil
}

// userError returns the error for the element at a position of a request that auth rejected.
func userError(f *fault.Error, at int) error {
	code, message := f.Code, f.Message
	if results := f.Details.GetResults(); at < len(results) && results[at].GetError() != nil {
		code, message = results[at].GetError().GetErrorCode(), results[at].GetError().GetMessage()
	}
	return fault.New(code, errorStatus(f, code), message)
}

// errorStatus returns the status of one of several errors, because their details contain only
// codes.
func errorStatus(f *fault.Error, code string) int {
	if code == fault.CodeNoAccess {
		return 403
	}
	return f.Status
}
