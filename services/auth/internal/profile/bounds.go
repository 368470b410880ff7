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
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Bounds limit what a caller may grant to others: no more than the caller has.
type Bounds struct {
	// unlimited means that there are no bounds, because a service acts without a user.
	unlimited bool
	held      Profile
	caller    *authn.Principal
	// all are the permissions of the contracts.
	all []string
}

// CallerBounds returns the bounds of the caller of a context.
func CallerBounds(ctx context.Context, db pg.Querier, all []string) (Bounds, error) {
	caller, ok := authn.From(ctx)
	if !ok || caller.IsService() {
		return Bounds{unlimited: true}, nil
	}
	held, err := callerProfile(ctx, db, caller)
	return Bounds{held: held, caller: caller, all: all}, err
}

// Refuse returns the error for granting a profile, or nil. It checks the caller's current profile and the
// token, which may permit less.
func (b Bounds) Refuse(p Profile) *fault.Error {
	if b.unlimited {
		return nil
	}
	beyond := FirstExceeding(p.Grants, b.held.Grants)
	if beyond == "" {
		beyond = FirstExceeding(Expand(p.Grants, b.all), b.caller.Permissions)
	}
	if beyond != "" {
		return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
			"The access profile %q permits %s, which your own access profile or token does not permit.", p.Name, beyond))
	}
	// A profile without permissions shows no rows.
	if len(p.Grants) > 0 && !(p.Rows.Within(b.held.Rows) && p.Rows.Within(rowvisibility.Scope(b.caller.Rows))) {
		return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
			"The access profile %q shows the data of more persons than you can see yourself.", p.Name))
	}
	if beyond := FirstExceeding(p.OwnActions, b.held.OwnActions); beyond != "" && !b.everything() {
		return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
			"The access profile %q permits %s on one's own record, which your own access profile does not permit.", p.Name, beyond))
	}
	return nil
}

// everything reports whether the caller may do everything for all employees. Such callers may permit actions on
// one's own record that they cannot do on their own.
func (b Bounds) everything() bool {
	return slices.Contains(b.held.Grants, "*") && slices.Contains(b.caller.Permissions, "*") &&
		rowvisibility.All.Within(b.held.Rows) && rowvisibility.All.Within(rowvisibility.Scope(b.caller.Rows))
}

// RefuseOwnActions returns the error for changing the actions that a profile permits on one's own record, or
// nil. Callers cannot add actions to their own profile.
func (b Bounds) RefuseOwnActions(before, after Profile) *fault.Error {
	if b.unlimited || before.Name != b.held.Name || FirstExceeding(after.OwnActions, before.OwnActions) == "" {
		return nil
	}
	return fault.Forbidden(fault.CodeOwnRecord,
		"This is your own access profile, and you cannot permit yourself to act on your own record. Ask another administrator.")
}

// RefuseScopes returns the error for giving a client scopes with these permission patterns, or nil. It checks
// the caller's profile and the token. So a token that the scopes of its client narrow cannot create a client
// with wider tokens, or widen its own client.
func (b Bounds) RefuseScopes(patterns []string) *fault.Error {
	if b.unlimited {
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
		"The scopes of the client permit %s, which your token does not. Without scopes, a client's tokens permit everything that its users may do.", beyond))
}

// RefuseEverything returns an error with the message unless the caller may do everything.
func (b Bounds) RefuseEverything(message string) *fault.Error {
	if b.Refuse(Profile{Grants: []string{"*"}, Rows: rowvisibility.All}) == nil {
		return nil
	}
	return fault.Forbidden(fault.CodeNoAccess, message)
}

// Assignment is a profile for a person.
type Assignment struct {
	PersonID int64
	Profile  string
}

// CheckAssignments returns the errors for assigning profiles, by index. It checks the new profile, and the
// current profile of the person's user, so that callers cannot take over an account that may do more than they.
func CheckAssignments(ctx context.Context, db pg.Querier, all []string, assignments []Assignment) ([]*fault.Error, error) {
	refused := make([]*fault.Error, len(assignments))
	bounds, err := CallerBounds(ctx, db, all)
	if err != nil || bounds.unlimited || len(assignments) == 0 {
		return refused, err
	}
	persons, names := make([]int64, len(assignments)), make([]string, len(assignments))
	for i, g := range assignments {
		persons[i], names[i] = g.PersonID, g.Profile
	}
	current, err := currentProfiles(ctx, db, persons)
	if err != nil {
		return nil, err
	}
	for _, name := range current {
		names = append(names, name)
	}
	profiles, err := ByName(ctx, db, names)
	if err != nil {
		return nil, err
	}
	verdicts := make(map[string]*fault.Error, len(profiles))
	for name, p := range profiles {
		verdicts[name] = bounds.Refuse(p)
	}
	for i, g := range assignments {
		if refused[i] = verdicts[g.Profile]; refused[i] == nil && verdicts[current[g.PersonID]] != nil {
			refused[i] = fault.Forbidden(fault.CodeNoAccess, "The person's user has permissions that you lack, so you cannot change that user. "+
				verdicts[current[g.PersonID]].Message)
		}
	}
	return refused, nil
}

// currentProfiles returns the current profiles of the persons' users.
func currentProfiles(ctx context.Context, db pg.Querier, persons []int64) (map[int64]string, error) {
	result, err := db.Query(ctx, `SELECT person_id, access_profile FROM app_user
		WHERE tenant_id = $1 AND person_id = ANY($2)`, tenant.Of(ctx), persons)
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
