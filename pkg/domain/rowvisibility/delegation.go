package rowvisibility

import (
	"context"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
)

// Delegation shows a caller what somebody else may see, in the operations that
// this other person may call as well.
type Delegation struct {
	// Delegator is the person who delegated.
	Delegator int64
	// Rows is how far the delegator sees, by a profile and not by a delegation.
	Rows Scope
	// Permissions are those of the delegator that are delegated.
	Permissions []string
}

// Delegations returns which delegations run at the moment.
type Delegations interface {
	// Running returns the delegations to a principal that run now. Of a delegator
	// who may not log in none runs.
	Running(ctx context.Context, p *authn.Principal) ([]Delegation, error)
}

// WithDelegations returns r, which from now on shows callers what is delegated to
// them. A delegation of which the persons cannot be found out shows nobody, and is
// noted in the log: what is the caller's own does not depend on it.
func (r *Rules) WithDelegations(d Delegations, log *slog.Logger) *Rules {
	r.delegations, r.log = d, log
	return r
}

// callerVisibility is what is remembered of a caller.
type callerVisibility struct {
	own       Set
	delegated []delegated
}

// delegated is whom a delegator sees.
type delegated struct {
	Delegation
	set Set
}

func (s callerVisibility) weight() int {
	n := len(s.own.ids)
	for _, d := range s.delegated {
		n += len(d.set.ids)
	}
	return n
}

// of returns the Set for an operation that needs a permission. A delegation counts
// in operations only that the delegator may call, too: otherwise the two together
// could do what neither of them may. An operation without a permission is about the
// caller alone.
func (s callerVisibility) of(ctx context.Context) Set {
	permission := authn.Permission(ctx)
	set := s.own
	for _, d := range s.delegated {
		if permission != "" && slices.Contains(d.Permissions, permission) {
			set.delegated = append(set.delegated, d)
		}
	}
	if len(set.delegated) > 0 {
		set.note = func(delegator int64) { audit.OnBehalfOf(ctx, delegator) }
	}
	return set
}

// loadDelegations returns whom the delegators of a principal see. What was delegated
// to them is not asked for: it is not delegated further.
func (r *Rules) loadDelegations(ctx context.Context, p *authn.Principal) ([]delegated, error) {
	if r.delegations == nil {
		return nil, nil
	}
	running, err := r.delegations.Running(ctx, p)
	if err != nil {
		return nil, err
	}
	found := make([]*delegated, len(running))
	var group errgroup.Group
	for i, d := range running {
		group.Go(func() error {
			set, err := r.seenBy(ctx, &authn.Principal{Tenant: p.Tenant, PersonID: d.Delegator, Rows: string(d.Rows)})
			if err != nil {
				r.log.WarnContext(ctx, "a delegation shows nobody: whom the delegator sees is not known", "delegator", d.Delegator, "error", err)
				return nil
			}
			found[i] = &delegated{Delegation: d, set: set}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var out []delegated
	for _, d := range found {
		if d != nil {
			out = append(out, *d)
		}
	}
	return out, nil
}
