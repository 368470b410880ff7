package profile

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Bounds are what a caller may give to others: no more than they have.
type Bounds struct {
	// free says that there are none: a service works for nobody in particular.
	free   bool
	held   Profile
	caller *authn.Principal
	// all are the permissions that the contracts name.
	all []string
}

// BoundsOf returns those of the caller of a context.
func BoundsOf(ctx context.Context, db pg.Querier, all []string) (Bounds, error) {
	caller, ok := authn.From(ctx)
	if !ok || caller.IsService() {
		return Bounds{free: true}, nil
	}
	held, err := heldBy(ctx, db, caller)
	return Bounds{held: held, caller: caller, all: all}, err
}

// Refuse returns why the caller may not give a profile, or nil. What counts is
// both the caller's profile as it is now and the token, which may say less.
func (b Bounds) Refuse(p Profile) *fault.Error {
	if b.free {
		return nil
	}
	beyond := FirstExceeding(p.Grants, b.held.Grants)
	if beyond == "" {
		beyond = FirstExceeding(Expand(p.Grants, b.all), b.caller.Permissions)
	}
	if beyond != "" {
		return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
			"The access profile %q permits %s, which you may not do yourself.", p.Name, beyond))
	}
	// A profile that permits nothing shows nobody.
	if len(p.Grants) > 0 && !(p.Rows.Within(b.held.Rows) && p.Rows.Within(rowvisibility.Scope(b.caller.Rows))) {
		return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
			"The access profile %q shows the data of more persons than you see yourself.", p.Name))
	}
	if beyond := FirstExceeding(p.OwnActions, b.held.OwnActions); beyond != "" && !b.everything() {
		return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
			"The access profile %q permits %s on one's own record, which you may not do to yours.", p.Name, beyond))
	}
	return nil
}

// everything reports whether the caller may do everything for everybody. Those callers may
// let others act on their own records, without being able to act on theirs.
func (b Bounds) everything() bool {
	return slices.Contains(b.held.Grants, "*") && slices.Contains(b.caller.Permissions, "*") &&
		rowvisibility.All.Within(b.held.Rows) && rowvisibility.All.Within(rowvisibility.Scope(b.caller.Rows))
}

// RefuseOwnActions returns why the caller may not change which actions a profile permits
// on one's own record, or nil: nobody adds any to the profile that they have.
func (b Bounds) RefuseOwnActions(before, after Profile) *fault.Error {
	if b.free || before.Name != b.held.Name || FirstExceeding(after.OwnActions, before.OwnActions) == "" {
		return nil
	}
	return fault.Forbidden(fault.CodeOwnRecord,
		"You have this access profile yourself, and cannot let yourself act on your own record. Ask another administrator.")
}

// RefuseScopes returns why the caller may not let the tokens of a client be used for
// what patterns of permissions permit, or nil. What counts is, again, both the caller's
// profile and the token: a token that a client's scopes have narrowed makes no client,
// itself included, whose tokens are narrowed less.
func (b Bounds) RefuseScopes(patterns []string) *fault.Error {
	if b.free {
		return nil
	}
	beyond := FirstExceeding(patterns, b.held.Grants)
	if beyond == "" {
		beyond = FirstExceeding(Expand(patterns, b.all), b.caller.Permissions)
	}
	if beyond == "" {
		return nil
	}
	return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
		"The scopes of the client permit %s, which your token does not. Without scopes a client's tokens permit everything that its users may do.", beyond))
}

// RefuseEverything returns why the caller may not do what only who may do everything
// may, or nil.
func (b Bounds) RefuseEverything(message string) *fault.Error {
	if b.Refuse(Profile{Grants: []string{"*"}, Rows: rowvisibility.All}) == nil {
		return nil
	}
	return fault.Forbidden(fault.CodeNoAccess, message)
}

// Given is a profile that a person is to have.
type Given struct {
	PersonID int64
	Profile  string
}

// CheckAssigned returns for each what Refuse returns for the profile, and for the
// one that the person's user has now: nobody takes the account over of somebody
// who may do more.
func CheckAssigned(ctx context.Context, db pg.Querier, tenantID int64, all []string, given []Given) ([]*fault.Error, error) {
	refused := make([]*fault.Error, len(given))
	bounds, err := BoundsOf(ctx, db, all)
	if err != nil || bounds.free || len(given) == 0 {
		return refused, err
	}
	persons, names := make([]int64, len(given)), make([]string, len(given))
	for i, g := range given {
		persons[i], names[i] = g.PersonID, g.Profile
	}
	present, err := presentOf(ctx, db, tenantID, persons)
	if err != nil {
		return nil, err
	}
	for _, name := range present {
		names = append(names, name)
	}
	profiles, err := ByName(ctx, db, tenantID, names)
	if err != nil {
		return nil, err
	}
	verdicts := make(map[string]*fault.Error, len(profiles))
	for name, p := range profiles {
		verdicts[name] = bounds.Refuse(p)
	}
	for i, g := range given {
		if refused[i] = verdicts[g.Profile]; refused[i] == nil && verdicts[present[g.PersonID]] != nil {
			refused[i] = fault.Forbidden(fault.CodeNoAccess, "The person's user may do more than you, so you may not change that user. "+
				verdicts[present[g.PersonID]].Message)
		}
	}
	return refused, nil
}

// presentOf returns the profiles that the users of persons have now.
func presentOf(ctx context.Context, db pg.Querier, tenantID int64, persons []int64) (map[int64]string, error) {
	result, err := db.Query(ctx, `SELECT person_id, access_profile FROM app_user
		WHERE tenant_id = $1 AND person_id = ANY($2)`, tenantID, persons)
	if err != nil {
		return nil, fmt.Errorf("find users: %w", err)
	}
	out := map[int64]string{}
	var id int64
	var name string
	if _, err := pgx.ForEachRow(result, []any{&id, &name}, func() error { out[id] = name; return nil }); err != nil {
		return nil, fmt.Errorf("find users: %w", err)
	}
	return out, nil
}
