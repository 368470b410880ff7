// Package profile evaluates and stores function access profiles.
package profile

import (
	"regexp"
	"strings"
)

// Expand returns the permissions among all that the grants match. In a grant, "*" stands for any text:
// "commons.*" grants everything in commons, and "*.read" grants all reading.
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

// pattern returns an expression that matches the texts that any of the grants matches.
func pattern(grants ...string) *regexp.Regexp {
	parts := make([]string, len(grants))
	for i, grant := range grants {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(grant), `\*`, `.*`)
	}
	return regexp.MustCompile(`^(?:` + strings.Join(parts, "|") + `)$`)
}
