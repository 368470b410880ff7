package token

import (
	"regexp"
	"strings"
)

// expand answers those of all permissions that a profile grants. In a grant
// "*" stands for any text: "commons.*" grants everything in commons, and
// "*.read" all reading.
func expand(grants, all []string) []string {
	patterns := make([]string, len(grants))
	for i, grant := range grants {
		patterns[i] = strings.ReplaceAll(regexp.QuoteMeta(grant), `\*`, `.*`)
	}
	if len(patterns) == 0 {
		return nil
	}
	matches := regexp.MustCompile(`^(?:` + strings.Join(patterns, "|") + `)$`)
	var out []string
	for _, permission := range all {
		if matches.MatchString(permission) {
			out = append(out, permission)
		}
	}
	return out
}
