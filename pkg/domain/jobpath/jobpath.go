// Package jobpath warns callers about paths of jobs that no location has. A path may be written before its location
// exists, so that a misspelt path is not an error; without a warning nobody would see it.
package jobpath

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rotaloom/rotaloom/pkg/rpc"
)

const (
	// maxWarnings is the largest number of paths that the warnings of one response name.
	maxWarnings = 5
	// maxShown is the longest part of a path that a warning repeats, in characters.
	maxShown = 200
)

// Warn adds a warning to the response for each path that no location has.
func Warn(ctx context.Context, unknown []string) error {
	for i, path := range unknown {
		if i == maxWarnings {
			return rpc.AddWarning(ctx, fmt.Sprintf("No location has %d further paths of the request.", len(unknown)-i))
		}
		if utf8.RuneCountInString(path) > maxShown {
			path = string([]rune(path)[:maxShown]) + "..."
		}
		shown := strings.Trim(strconv.QuoteToASCII(path), `"`)
		if err := rpc.AddWarning(ctx, "No location has the path '"+shown+"'. It is stored as a text until a location gets it. Check its spelling."); err != nil {
			return err
		}
	}
	return nil
}
