// Package leavepolicy keeps what a tenant says of leave: the types that it is taken
// as, the rules by which they are used up, custom fields, and the profiles that
// say which of it employees may take.
package leavepolicy

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Codes of the setup of leave. Those of ours begin with WRL.
const (
	// CodeInvalid (400): a value is not one that its property may have.
	CodeInvalid = "WRL-20801"
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WRL-20802"
	// CodeTaken (400): another one has the name.
	CodeTaken = "WRL-20803"
	// CodeUnknown (400, 404): there is no such leave type, rule or custom field.
	CodeUnknown = "WRL-20804"
	// CodeOtherID (400): the id in the body is not the one in the path.
	CodeOtherID = "WRL-20805"
	// CodeInUse (400): something refers to it. Change or delete that first.
	CodeInUse = "WRL-20806"
	// CodeProfileUnknown (400, 404): there is no such leave profile.
	CodeProfileUnknown = "WFL-100318"
)

// setup is a message of the setup of leave.
type setup interface {
	namedstore.Versioned
	GetQualifier() string
	GetDescription() string
}

func codes() namedstore.Codes {
	return namedstore.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID}
}

// Stores of the setup.
type (
	typeStore    = namedstore.Store[*timekeepingv1.LeaveType]
	ruleStore    = namedstore.Store[*timekeepingv1.LeaveRule]
	fieldStore   = namedstore.Store[*timekeepingv1.LeaveCustomField]
	profileStore = namedstore.Store[*timekeepingv1.LeaveProfile]
)

// Types returns the store of leave types.
func Types() *typeStore {
	return namedstore.NewStore(namedstore.Kind[*timekeepingv1.LeaveType]{
		Codes: codes(), What: "leave type", Table: "leave_type",
		Strip: func(t *timekeepingv1.LeaveType) { t.Qualifier = "" },
		Fill:  func(t *timekeepingv1.LeaveType, _ int64) { t.Qualifier = t.GetName() },
	})
}

// Rules returns the store of leave rules.
func Rules() *ruleStore {
	return namedstore.NewStore(namedstore.Kind[*timekeepingv1.LeaveRule]{
		Codes: codes(), What: "leave rule", Table: "leave_rule",
		Strip: func(r *timekeepingv1.LeaveRule) { r.Qualifier = "" },
		Fill:  func(r *timekeepingv1.LeaveRule, _ int64) { r.Qualifier = r.GetName() },
	})
}

// Fields returns the store of custom fields.
func Fields() *fieldStore {
	return namedstore.NewStore(namedstore.Kind[*timekeepingv1.LeaveCustomField]{
		Codes: codes(), What: "custom field of leave", Table: "leave_custom_field",
		Strip: func(f *timekeepingv1.LeaveCustomField) { f.Qualifier = "" },
		Fill:  func(f *timekeepingv1.LeaveCustomField, _ int64) { f.Qualifier = f.GetName() },
	})
}

// Profiles returns the store of leave profiles.
func Profiles() *profileStore {
	own := codes()
	own.Unknown = CodeProfileUnknown
	return namedstore.NewStore(namedstore.Kind[*timekeepingv1.LeaveProfile]{
		Codes: own, What: "leave profile", Table: "leave_profile",
		Strip: func(p *timekeepingv1.LeaveProfile) { p.Qualifier = "" },
		Fill:  func(p *timekeepingv1.LeaveProfile, _ int64) { p.Qualifier = p.GetName() },
	})
}

func invalid(format string, args ...any) error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

// checkNamed checks what all messages of the setup have, whose name may be given as
// their qualifier, and returns the name.
func checkNamed(what string, given setup) (string, error) {
	name := cmp.Or(given.GetName(), given.GetQualifier())
	if err := codes().CheckName(what, name); err != nil {
		return "", err
	}
	if given.GetQualifier() != "" && given.GetQualifier() != name {
		return "", invalid("qualifier must be the same as name")
	}
	return name, checkControl("description", given.GetDescription())
}

func checkText(path, text string, limit int) error {
	if utf8.RuneCountInString(text) > limit {
		return invalid("%s must have at most %d characters", path, limit)
	}
	return checkControl(path, text)
}

// checkControl refuses control characters other than those between words and lines.
func checkControl(path, text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }) {
		return invalid("%s must not have control characters", path)
	}
	return nil
}

// referred returns what refs point to, in their order and each once, and keeps it
// from being deleted until the transaction ends. The refs become those of responses.
func referred[T namedstore.Versioned](ctx context.Context, tx pgx.Tx, tenantID int64, store *namedstore.Store[T], table, path string, refs []*commonv1.Ref) ([]T, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	things, err := store.Read(ctx, tx, tenantID, path, refs)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(things))
	seen := map[int64]bool{}
	for i, thing := range things {
		if seen[thing.GetId()] {
			return nil, invalid("%s[%d] repeats %q", path, i, thing.GetName())
		}
		ids[i], seen[thing.GetId()] = thing.GetId(), true
	}
	// The table is a name of ours, never of a caller.
	var there int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM `+table+` WHERE tenant_id = $1 AND id = ANY($2) FOR KEY SHARE) AS kept`,
		tenantID, ids).Scan(&there); err != nil {
		return nil, fmt.Errorf("%s: keep: %w", table, err)
	}
	if there < len(ids) {
		return nil, fault.Invalid(CodeUnknown, path+" names something that was deleted.")
	}
	for i, thing := range things {
		refs[i] = refOf(thing)
	}
	return things, nil
}

// refOf names a thing in responses.
func refOf(thing namedstore.Named) *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(thing.GetId()), Qualifier: proto.String(thing.GetName()), Name: proto.String(thing.GetName())}
}

// points reports whether one of the refs points to an id.
func points(refs []*commonv1.Ref, id int64) bool {
	for _, ref := range refs {
		if ref.GetId() == id {
			return true
		}
	}
	return false
}

func inUse(by, what, name string) error {
	return fault.Invalid(CodeInUse, fmt.Sprintf("%s refers to the %s %q.", by, what, name))
}
