// Package preference carries the preference of a request to wait (RFC 7240, section 4.3): Prefer:
// wait=N. The edge parses the header, the call carries it to the service, and a method that starts
// work waits for the work after its transaction has committed.
package preference

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// MaxWait is the longest time that a request can wait. Longer times are shortened to it.
const MaxWait = 20 * time.Second

// ParseWait returns the seconds of the first wait preference in the lines of a Prefer header, at
// most [MaxWait]. It returns 0 if there is none, or if it is malformed: servers ignore preferences
// that they do not understand.
func ParseWait(lines []string) int {
	for _, line := range lines {
		for preference := range strings.SplitSeq(line, ",") {
			token, _, _ := strings.Cut(preference, ";")
			name, value, _ := strings.Cut(token, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
			if err != nil {
				return 0
			}
			return min(int(seconds), int(MaxWait/time.Second))
		}
	}
	return 0
}

// Applied returns the value of Preference-Applied for a request that waited.
func Applied(wait time.Duration) string {
	return "wait=" + strconv.Itoa(int(wait/time.Second))
}

type waitKey struct{}

// WithWait returns a context for a request that waits for the work that it starts.
func WithWait(ctx context.Context, wait time.Duration) context.Context {
	return context.WithValue(ctx, waitKey{}, min(wait, MaxWait))
}

// Wait returns the longest time that the caller wants to wait for the work that the request starts;
// 0 means that the caller does not wait.
func Wait(ctx context.Context) time.Duration {
	wait, _ := ctx.Value(waitKey{}).(time.Duration)
	return wait
}
