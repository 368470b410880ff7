// Package symbolicamount defines the symbolic values that pay code edits and time off periods can
// have instead of a duration.
package symbolicamount

import (
	"strings"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// The symbolic values.
const (
	FullDay = "FULL_DAY"
	HalfDay = "HALF_DAY"
)

// Hours is the name that clients send beside a duration. It says that the duration counts, and is
// never stored.
const Hours = "HOURS"

// All returns the symbolic values by their ids.
func All() map[int64]string { return map[int64]string{-1: FullDay, -2: HalfDay} }

// Ref returns the ref of a symbolic value in responses, or nil for an unknown name.
func Ref(name string) *commonv1.Ref {
	for id, known := range All() {
		if known == name {
			return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(name)}
		}
	}
	return nil
}

// Find returns the id and the name of the symbolic value that a ref names, if it does. The id takes
// precedence; names are compared without case, and may have spaces.
func Find(given *commonv1.Ref) (int64, string, bool) {
	if given == nil {
		return 0, "", false
	}
	text := strings.ReplaceAll(given.GetQualifier(), " ", "_")
	for id, name := range All() {
		if given.Id != nil && given.GetId() == id || given.Id == nil && strings.EqualFold(text, name) {
			return id, name, true
		}
	}
	return 0, "", false
}

// IsHours reports whether a ref says that the duration counts, in any case.
func IsHours(given *commonv1.Ref) bool {
	return given != nil && given.Id == nil && strings.EqualFold(given.GetQualifier(), Hours)
}
