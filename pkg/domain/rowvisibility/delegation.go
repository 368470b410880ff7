package rowvisibility

import (
	"context"
	"log/slog"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
)

// Delegation lets a caller see the persons that a delegator may see, in the operations that the
// delegator may call as well.
type Delegation struct {
	// Delegator is the person who delegated.
	Delegator int64
	// Rows is the row scope of the delegator's profile, without delegations to the delegator.
	Rows Scope
	// Permissions are the delegated permissions of the delegator.
	Permissions []string
}

// Delegations returns the active delegations.
type Delegations interface {
	// Running returns the active delegations to a principal. A delegator who may not log in has no
	// active delegations.
	Running(ctx context.Context, p *authn.Principal) ([]Delegation, error)
}

// WithDelegations lets the rules apply delegations, and returns r. If the persons of a delegation
// cannot be determined, that delegation shows no persons and is logged; the caller's own rows do
// not depend on it.
func (r *Rules) WithDelegations(d Delegations, log *slog.Logger) *Rules {
	r.delegations, r.log = d, log
	return r
}

// callerVisibility is the cached visibility of a caller.
type callerVisibility struct {
	own       Set
	delegated []delegated
}

// delegated is a delegation with the persons that its delegator sees.
type delegated struct {
	Delegation
	set Set
}

func (s callerVisibility) weight() int {
	n := len(s.own.ids) + len(s.own.dated)
	for _, d := range s.delegated {
		n += len(d.set.ids) + len(d.set.dated)
	}
	return n
}

// setFor returns the Set for an operation with a permission. A delegation counts only in operations
// that the delegator may call too: otherwise the two together could do more than either of them.
// Operations without a permission concern only the caller.
func (s callerVisibility) setFor(ctx context.Context) Set {
	permission := authn.Permission(ctx)
	days, _ := isDated(ctx)
	set := s.own.restrict(days)
	for _, d := range s.delegated {
		if permission != "" && slices.Contains(d.Permissions, permission) {
			d.set = d.set.restrict(days)
			set.delegated = append(set.delegated, d)
		}
	}
	if len(set.delegated) > 0 {
		set.note = func(delegator int64) { audit.OnBehalfOf(ctx, delegator) }
	}
	return set
}

// loadDelegations returns the persons that the delegators of a principal see. Delegations to a
// delegator are ignored: they are not passed on.
func (r *Rules) loadDelegations(ctx context.Context, p *authn.Principal, dated bool) ([]delegated, error) {
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
			set, err := r.visiblePersons(ctx, &authn.Principal{Tenant: p.Tenant, PersonID: d.Delegator, Rows: string(d.Rows)}, dated)
			if err != nil {
				r.log.WarnContext(ctx, "a delegation shows no persons, because the delegator's rows cannot be determined", "delegator", d.Delegator, "error", err)
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
