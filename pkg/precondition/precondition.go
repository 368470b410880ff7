// Package precondition enforces the If-Match of requests that write (RFC 9110, section 13.1.1). The
// edge parses the header, the call carries it to the service, and the method compares it in the
// transaction that writes, with the row locked.
package precondition

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// MaxTags bounds the entity tags of one If-Match.
const MaxTags = 16

// CodeNoVersion (400): If-Match names a version, and the operation changes no object with its own
// version. Leave If-Match out. In a request with several items, send the version of each item that
// has one.
const CodeNoVersion = "WRL-00433"

// unknown is the version of an entity tag that no object of ours has.
const unknown = 0

// Condition is a parsed If-Match: the object must have one of several versions, or must exist. The
// zero value requires nothing.
type Condition struct {
	exists   bool
	versions []int64
}

// Given reports whether the condition requires anything.
func (c Condition) Given() bool { return c.exists || c.versions != nil }

// NamesVersions reports whether the condition requires one of several versions.
func (c Condition) NamesVersions() bool { return c.versions != nil }

// IsAny reports whether the condition requires that the object exists, in any version.
func (c Condition) IsAny() bool { return c.exists }

// holds reports whether an object with this version meets the condition; 0 is the version of a
// missing object.
func (c Condition) holds(version int64) bool {
	return !c.Given() || version > 0 && (c.exists || slices.Contains(c.versions, version))
}

// String formats the condition for [Read], "" for the zero value.
func (c Condition) String() string {
	if c.exists {
		return "*"
	}
	texts := make([]string, len(c.versions))
	for i, version := range c.versions {
		texts[i] = strconv.FormatInt(version, 10)
	}
	return strings.Join(texts, ",")
}

// Read parses the text of [Condition.String].
func Read(text string) (Condition, error) {
	switch text {
	case "":
		return Condition{}, nil
	case "*":
		return Condition{exists: true}, nil
	}
	parts := strings.SplitN(text, ",", MaxTags+1)
	versions := make([]int64, len(parts))
	for i, part := range parts {
		version, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return Condition{}, fault.Invalid(fault.CodeValue, fmt.Sprintf("%.100q is not a list of versions.", text))
		}
		versions[i] = version
	}
	return Condition{versions: versions}, nil
}

type contextKey struct{}

// With returns a context whose writes must meet a condition.
func With(ctx context.Context, c Condition) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Of returns the condition of a context.
func Of(ctx context.Context) Condition {
	c, _ := ctx.Value(contextKey{}).(Condition)
	return c
}

// Check returns a fault unless the object with this version meets the condition of the context. 0
// is the version of a missing object. The row must be locked, so that the version does not change
// before the transaction writes.
func Check(ctx context.Context, what string, version int64) error {
	if Of(ctx).holds(version) {
		return nil
	}
	if version <= 0 {
		return preconditionFailed(fmt.Sprintf("There is no %s yet, so If-Match cannot hold. Leave it out to create one.", what))
	}
	return Stale(ctx, fmt.Sprintf("The %s was changed since it was read. Read it again.", what))
}

// CheckGiven is [Check] for requests that may state a version themselves; nil means none. If-Match
// takes precedence.
func CheckGiven(ctx context.Context, what string, version int64, given *int64) error {
	if !Of(ctx).Given() && given != nil && *given != version {
		return Stale(ctx, fmt.Sprintf("The %s was changed since it was read. Read it again.", what))
	}
	return Check(ctx, what, version)
}

// Versions returns the allowed versions of an existing object; nil means any. given is the version
// that the request itself states, or nil. If-Match takes precedence.
func Versions(ctx context.Context, given *int64) []int64 {
	c := Of(ctx)
	switch {
	case c.Given():
		return c.versions
	case given != nil:
		return []int64{*given}
	}
	return nil
}

// Stale returns the fault for a write to an object with another version: 412 if the request has an
// If-Match, else 409.
func Stale(ctx context.Context, message string) *fault.Error {
	if Of(ctx).Given() {
		return preconditionFailed(message)
	}
	return fault.Conflict(fault.CodeStale, message)
}

func preconditionFailed(message string) *fault.Error {
	return fault.New(fault.CodeStale, http.StatusPreconditionFailed, message)
}

// CheckRow is [Check] for methods that do not read the row that they write. The statement must
// select the version of the object and lock its row until the transaction ends. It runs only if
// there is a condition; missing is the error for a missing row.
func CheckRow(ctx context.Context, tx pgx.Tx, what string, missing error, sql string, args ...any) error {
	if !Of(ctx).Given() {
		return nil
	}
	var version int64
	err := tx.QueryRow(ctx, sql, args...).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return missing
	}
	if err != nil {
		return fmt.Errorf("lock the %s: %w", what, err)
	}
	return Check(ctx, what, version)
}
