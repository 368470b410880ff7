// Package profile says what function access profiles permit.
package profile

import (
	"regexp"
	"strings"
)

// Expand returns those of all permissions that a profile grants. In a grant
// "*" stands for any text: "commons.*" grants everything in commons, and
// "*.read" all reading.
func Expand(grants, all []string) []string {
	if len(grants) == 0 {
		return nil
	}
	matches := pattern(grants...)
	var out []string
	for _, permission := range all {
		if matches.MatchString(permission) {
			out = append(out, permission)
		}
	}
	return out
}

// pattern matches what any of the grants matches.
func pattern(grants ...string) *regexp.Regexp {
	parts := make([]string, len(grants))
	for i, grant := range grants {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(grant), `\*`, `.*`)
	}
	return regexp.MustCompile(`^(?:` + strings.Join(parts, "|") + `)$`)
}
