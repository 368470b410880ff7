// Package suggest finds the known name that a misspelt name probably means, for the texts of errors. Names come
// from clients, so that the work for each is bounded.
package suggest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// maxLength is the length in bytes of the longest name that is compared.
	maxLength = 64
	// maxDistance is the largest number of edits between a name and its suggestion.
	maxDistance = 3
	// maxKnown is the largest number of known names that are compared with one name.
	maxKnown = 4000
)

// Hint returns a sentence that names the known name nearest to name, with a space before it, or "" if no known
// name is near.
func Hint(name string, known iter.Seq[string]) string {
	nearest := Nearest(name, known)
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", nearest)
}

// NotOneOf returns the message for a value at a path of the request that is none of the known ones, with the nearest of
// them: `orderBy: "EMPLOYEE" is not one of EMPLOYEES, LOCATIONS. Did you mean "EMPLOYEES"?`
func NotOneOf(path, given string, known ...string) string {
	return fmt.Sprintf("%s: %.40q is not one of %s.%s", path, given, strings.Join(known, ", "), Hint(given, slices.Values(known)))
}

// Nearest returns the known name nearest to name, or "" if none is near. Of several it returns the first in the
// alphabet.
func Nearest(name string, known iter.Seq[string]) string {
	best, least, compared := "", maxDistance+1, 0
	for candidate := range known {
		if compared++; compared > maxKnown {
			break
		}
		d, near := Distance(name, candidate)
		if near && (d < least || d == least && candidate < best) {
			best, least = candidate, d
		}
	}
	return best
}

// Distance returns the number of edits between two names, and whether the names are near each other: a misspelling
// changes about every third letter at most. Case, underscores, hyphens and spaces do not count. Exchanged neighbours
// are one edit.
func Distance(name, candidate string) (edits int, near bool) {
	if len(name) > maxLength || len(candidate) > maxLength || name == "" || candidate == "" {
		return 0, false
	}
	var bufA, bufB [maxLength]byte
	a, b := normalize(bufA[:0], name), normalize(bufB[:0], candidate)
	limit := min(maxDistance, max(1, min(len(a), len(b))/3))
	edits = countEdits(a, b, limit)
	return edits, edits <= limit
}

// normalize appends the bytes of a name that count.
func normalize(dst []byte, name string) []byte {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == ' ':
		case c >= 'A' && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// countEdits returns the optimal string alignment distance of two texts in bytes, or a number above the limit if it
// is larger than the limit.
func countEdits(a, b []byte, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var rows [3][maxLength + 1]int
	before, last, row := rows[0][:], rows[1][:], rows[2][:]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
