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
	// maxName bounds the name of a profile, in characters.
	maxName = 100
	// maxGrants bounds the permissions and patterns of a profile.
	maxGrants = 200
	// maxProfiles bounds the profiles of a tenant.
	maxProfiles = 1000
)

// startedWith are the profiles that every tenant starts with.
var startedWith = []string{"Super", "Administrator", "Manager", "Scheduler", "Timekeeper", "Payroll", "Integration", "Employee"}

// fixed are those that nobody changes, so that there is always a way in.
var fixed = startedWith[:2]

var grantForm = regexp.MustCompile(`^[a-z0-9_.*]{1,200}$`)

// read checks a profile that was sent.
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
		// A pattern may wait for permissions of a later version.
		if !grantForm.MatchString(grant) || !strings.Contains(grant, "*") && !slices.Contains(all, grant) {
			return p, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("permissions[%d] is neither a permission nor a pattern of permissions.", i))
		}
		p.Grants = append(p.Grants, grant)
	}
	scope, ok := rowvisibility.ParseScope(sent.GetRowScope())
	if !ok {
		return p, fault.Invalid(fault.CodeBadRequest, "rowScope is none of ALL, GROUP and OWN.")
	}
	p.Rows = scope
	p.OwnActions, err = readOwnActions(sent.GetOwnRecordActions(), actions)
	return p, err
}

// readOwnActions checks the actions that a profile permits on one's own record.
func readOwnActions(sent, actions []string) ([]string, error) {
	if len(sent) > maxGrants {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("ownRecordActions has more than the allowed %d elements. Use patterns.", maxGrants))
	}
	read := []string{}
	for i, action := range sent {
		// A pattern may wait for actions of a later version.
		if !grantForm.MatchString(action) || !strings.Contains(action, "*") && !slices.Contains(actions, action) {
			return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("ownRecordActions[%d] is neither an action nor a pattern of actions.", i))
		}
		read = append(read, action)
	}
	return read, nil
}

// revokesAccess reports whether somebody loses something when one profile takes the
// place of another.
func revokesAccess(before, after Profile) bool {
	return FirstExceeding(before.Grants, after.Grants) != "" || !before.Rows.Within(after.Rows) ||
		FirstExceeding(before.OwnActions, after.OwnActions) != ""
}

// response is a profile as responses show it.
func (p Profile) response() *authv1.AccessProfile {
	builtIn := slices.Contains(startedWith, p.Name)
	return &authv1.AccessProfile{
		Name: p.Name, Permissions: p.Grants, RowScope: strings.ToUpper(string(p.Rows)), BuiltIn: &builtIn,
		OwnRecordActions: p.OwnActions,
	}
}
