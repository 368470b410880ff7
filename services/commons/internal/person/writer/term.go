package writer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

const (
	// termPermission is required to assign persons to terms, in any operation.
	termPermission = "timekeeping.employment_term_assignment.write"
	// copyWait is the time to wait for an unknown name. The object may be new, and this service
	// cannot query the services above it.
	copyWait  = time.Second
	copyPause = 20 * time.Millisecond
)

// refuseUnknownTerms finds the terms in items, and fails the items with an unknown term.
func (w *Writer) refuseUnknownTerms(ctx context.Context, items []*store.Item) error {
	var names []string
	for _, it := range store.Valid(items) {
		if len(it.TermRequests) > 0 && !mayAssignTerms(ctx) {
			if isNoOp(it.Terms, it.TermRequests) {
				it.TermRequests = nil // The caller sent back the terms of a response.
				continue
			}
			it.Err = notAuthorised("You may not put persons on employment terms: that needs the permission " + termPermission + ".")
			continue
		}
		for _, a := range it.TermRequests {
			if a.Name != "" {
				names = append(names, a.Name)
			}
		}
	}
	slices.Sort(names)
	known, err := w.findTerms(ctx, slices.Compact(names))
	if err != nil {
		return err
	}
	for _, it := range store.Valid(items) {
		for i := range it.TermRequests {
			a := &it.TermRequests[i]
			t, ok := known[a.Name]
			if a.Name != "" && !ok {
				it.Err = fault.Invalid(rules.CodeBadValue, fmt.Sprintf("%s.name: there is no employment term with the name %.100q.", a.Path, a.Name))
			}
			a.ID, a.Name = t.ID, t.Name
		}
		it.Terms = record.ApplyTermRequests(it.Terms, it.TermRequests)
	}
	return nil
}

// isNoOp reports whether the requested terms are the present ones. It does not look up other
// terms, so that callers cannot find out which terms exist.
func isNoOp(have []record.TermAssignment, asked []record.TermRequest) bool {
	same := slices.Clone(asked)
	for i := range same {
		at := slices.IndexFunc(have, func(t record.TermAssignment) bool { return strings.EqualFold(t.Name, same[i].Name) })
		if at < 0 {
			return false
		}
		same[i].ID, same[i].Name = have[at].ID, have[at].Name
	}
	return slices.Equal(record.MergeAdjacentTerms(slices.Clone(have)), record.ApplyTermRequests(have, same))
}

func mayAssignTerms(ctx context.Context) bool {
	p, ok := authn.From(ctx)
	return !ok || p.Service != "" || p.Has(termPermission)
}

// findTerms returns the terms with the names, compared without case. It waits briefly for
// unknown ones.
func (w *Writer) findTerms(ctx context.Context, names []string) (known map[string]record.TermAssignment, err error) {
	tenantID := tenant.Of(ctx)
	if len(names) == 0 {
		return nil, nil
	}
	err = awaitCopy(ctx, func() (bool, error) {
		known = map[string]record.TermAssignment{}
		var name string
		var t record.TermAssignment
		if err := pg.ForEach(ctx, w.pool, []any{&name, &t.ID, &t.Name}, func() error {
			known[name] = t
			return nil
		}, `SELECT DISTINCT ON (q.name) q.name, t.id, t.name
			FROM (SELECT name, lower(name) AS name_key FROM unnest($2::text[]) AS name) AS q
			JOIN employment_term t ON t.tenant_id = $1 AND NOT t.deleted AND t.name_key = q.name_key
			ORDER BY q.name, t.id DESC`, tenantID, names); err != nil {
			return false, fmt.Errorf("look for employment terms: %w", err)
		}
		return len(known) == len(names), nil
	})
	return known, err
}

// awaitCopy calls complete until it returns true or an error, or the time to wait is over.
func awaitCopy(ctx context.Context, complete func() (bool, error)) error {
	giveUp := time.NewTimer(copyWait)
	defer giveUp.Stop()
	for {
		if done, err := complete(); done || err != nil {
			return err
		}
		select {
		case <-giveUp.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(copyPause):
		}
	}
}
