// Package leavepolicy keeps what a tenant says of leave: the types that it is taken
// as, the rules by which they are used up, custom fields, and the profiles that
// say which of it employees may take.
package leavepolicy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
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

func codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse}
}

// Types returns the declaration of leave types.
func Types() *setup.Kind[*timekeepingv1.LeaveType] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.LeaveType]{
		Codes: codes(), What: "leave type", Table: "leave_type",
		References: []setup.Reference{{Field: "pay_code", To: paycode.Kind()}},
	})
}

// Rules returns the declaration of leave rules.
func Rules() *setup.Kind[*timekeepingv1.LeaveRule] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.LeaveRule]{
		Codes: codes(), What: "leave rule", Table: "leave_rule",
		References: []setup.Reference{
			{Field: "paid_leave_types", To: enabledTypes(groupPaid), Distinct: true},
			{Field: "tracking_leave_types", To: enabledTypes(groupTracking), Distinct: true},
		},
	})
}

// enabledTypes restricts references to leave types of a group that are enabled.
func enabledTypes(group string) setup.Target {
	return Types().Only(func(path string, t *timekeepingv1.LeaveType) error {
		switch {
		case t.GetLeaveTypeGroup() != group:
			return invalid("%s must be of the group %s", path, group)
		case !t.GetEnabled():
			return invalid("%s is not enabled: the leave type %q", path, t.GetName())
		}
		return nil
	})
}

// Fields returns the declaration of custom fields.
func Fields() *setup.Kind[*timekeepingv1.LeaveCustomField] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.LeaveCustomField]{
		Codes: codes(), What: "custom field", Table: "leave_custom_field",
	})
}

// Profiles returns the declaration of leave profiles.
func Profiles() *setup.Kind[*timekeepingv1.LeaveProfile] {
	profileCodes := codes()
	profileCodes.Unknown = CodeProfileUnknown
	return setup.NewKind(setup.Declaration[*timekeepingv1.LeaveProfile]{
		Codes: profileCodes, What: "leave profile", Table: "leave_profile",
		References: []setup.Reference{
			{Field: "leave_profile_category.items.leave_profile_category_rule", To: Rules(), Distinct: true},
			{Field: "leave_profile_category.items.leave_profile_category_type", To: Types(), Distinct: true},
			{Field: "leave_profile_category.items.leave_profile_category_configurable_data", To: Fields(), Distinct: true},
		},
	})
}

func invalid(format string, args ...any) error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
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

// points reports whether one of the refs points to an id.
func points(refs []*commonv1.Ref, id int64) bool {
	for _, ref := range refs {
		if ref.GetId() == id {
			return true
		}
	}
	return false
}
