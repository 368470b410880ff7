package person

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	// termPermission is what putting persons on terms needs, by whatever
	// operation.
	termPermission = "timekeeping.employment_term_assignment.write"
	// termPatience is how long a name that nobody knows is waited for: the term
	// may have been created a moment ago, and timekeeping cannot be asked.
	termPatience = time.Second
	termPause    = 20 * time.Millisecond
)

// refuseUnknownTerms finds the terms that items name, and fails those with one
// that there is not.
func (w *writer) refuseUnknownTerms(ctx context.Context, items []*item) error {
	var names []string
	for _, it := range good(items) {
		if len(it.asked) > 0 && !mayAssign(ctx) {
			if nothingAsked(it.terms, it.asked) {
				it.asked = nil // What an answer showed has come back.
				continue
			}
			it.err = notAuthorised("You may not put persons on employment terms: that needs the permission " + termPermission + ".")
			continue
		}
		for _, a := range it.asked {
			if a.name != "" {
				names = append(names, a.name)
			}
		}
	}
	slices.Sort(names)
	known, err := w.findTerms(ctx, slices.Compact(names))
	if err != nil {
		return err
	}
	for _, it := range good(items) {
		for i := range it.asked {
			a := &it.asked[i]
			t, ok := known[a.name]
			if a.name != "" && !ok {
				it.err = fault.Invalid(CodeBadValue, fmt.Sprintf("%s.name: there is no employment term with the name %.100q.", a.path, a.name))
			}
			a.id, a.name = t.id, t.name
		}
		it.terms = ask(it.terms, it.asked)
	}
	return nil
}

// nothingAsked reports whether what is asked for is what the person has. Terms that
// they do not have are not looked up, so that nobody finds out which there are.
func nothingAsked(have []termDays, asked []askedTerm) bool {
	same := slices.Clone(asked)
	for i := range same {
		at := slices.IndexFunc(have, func(t termDays) bool { return strings.EqualFold(t.name, same[i].name) })
		if at < 0 {
			return false
		}
		same[i].id, same[i].name = have[at].id, have[at].name
	}
	return slices.Equal(joinTerms(slices.Clone(have)), ask(have, same))
}

func mayAssign(ctx context.Context) bool {
	p, ok := authn.From(ctx)
	return !ok || p.Service != "" || p.Has(termPermission)
}

// findTerms answers the terms with the names, which are compared without case.
// It waits a moment for those that are not there.
func (w *writer) findTerms(ctx context.Context, names []string) (map[string]termDays, error) {
	if len(names) == 0 {
		return nil, nil
	}
	giveUp := time.NewTimer(termPatience)
	defer giveUp.Stop()
	for {
		rows, err := w.pool.Query(ctx, `SELECT DISTINCT ON (q.name) q.name, t.id, t.name
			FROM (SELECT name, lower(name) AS name_key FROM unnest($2::text[]) AS name) AS q
			JOIN employment_term t ON t.tenant_id = $1 AND NOT t.deleted AND t.name_key = q.name_key
			ORDER BY q.name, t.id DESC`, tenantOf(ctx), names)
		if err != nil {
			return nil, err
		}
		known := map[string]termDays{}
		var name string
		var t termDays
		if _, err := pgx.ForEachRow(rows, []any{&name, &t.id, &t.name}, func() error {
			known[name] = t
			return nil
		}); err != nil {
			return nil, fmt.Errorf("look for employment terms: %w", err)
		}
		if len(known) == len(names) {
			return known, nil
		}
		select {
		case <-giveUp.C:
			return known, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(termPause):
		}
	}
}
