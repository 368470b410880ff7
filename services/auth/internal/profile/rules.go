package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

const (
	// maxName is the longest name of a profile, in characters.
	maxName = 100
	// maxGrants is the largest number of permissions and patterns of a profile.
	maxGrants = 200
	// maxProfiles is the largest number of profiles of a tenant.
	maxProfiles = 1000
)

// immutableProfiles cannot be changed, so that administrators always have access.
var immutableProfiles = builtInProfiles[:2]

var grantForm = regexp.MustCompile(`^[a-z0-9_.*]{1,200}$`)

// read validates a profile from a request.
func read(name string, sent *authv1.AccessProfile, all, actions []string) (p Profile, err error) {
	p = Profile{Name: name, Grants: []string{}}
	if name == "" || strings.TrimSpace(name) != name || utf8.RuneCountInString(name) > maxName ||
		strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == utf8.RuneError || unicode.IsControl(r) }) {
		return p, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("name must have 1 to %d characters, none of them a slash, and no space around them.", maxName))
	}
	if len(sent.GetPermissions()) > maxGrants {
		return p, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("permissions has more than the allowed %d elements. Use patterns.", maxGrants))
	}
	for i, grant := range sent.GetPermissions() {
		// A pattern may match permissions of a later version only.
		if !grantForm.MatchString(grant) || !strings.Contains(grant, "*") && !slices.Contains(all, grant) {
			return p, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("permissions[%d] is neither a permission nor a pattern of permissions.", i))
		}
		p.Grants = append(p.Grants, grant)
	}
	scope, ok := rowvisibility.ParseScope(sent.GetRowScope())
	if !ok {
		return p, fault.Invalid(fault.CodeBadRequest, "rowScope must be ALL, GROUP or OWN.")
	}
	p.Rows = scope
	p.OwnActions, err = readOwnActions(sent.GetOwnRecordActions(), actions)
	return p, err
}

// readOwnActions validates the actions that a profile permits on one's own record.
func readOwnActions(sent, actions []string) ([]string, error) {
	if len(sent) > maxGrants {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("ownRecordActions has more than the allowed %d elements. Use patterns.", maxGrants))
	}
	read := []string{}
	for i, action := range sent {
		// A pattern may match actions of a later version only.
		if !grantForm.MatchString(action) || !strings.Contains(action, "*") && !slices.Contains(actions, action) {
			return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("ownRecordActions[%d] is neither an action nor a pattern of actions.", i))
		}
		read = append(read, action)
	}
	return read, nil
}

// revokesAccess reports whether the profile after lacks something that the profile before permits.
func revokesAccess(before, after Profile) bool {
	return FirstExceeding(before.Grants, after.Grants) != "" || !before.Rows.Within(after.Rows) ||
		FirstExceeding(before.OwnActions, after.OwnActions) != ""
}

// response returns the profile for a response.
func (p Profile) response() *authv1.AccessProfile {
	builtIn := slices.Contains(builtInProfiles, p.Name)
	return &authv1.AccessProfile{
		Name: p.Name, Permissions: p.Grants, RowScope: strings.ToUpper(string(p.Rows)), BuiltIn: &builtIn,
		OwnRecordActions: p.OwnActions,
	}
}
