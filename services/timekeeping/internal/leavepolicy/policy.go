// Package leavepolicy keeps the leave setup of a tenant: leave types, the rules that determine the
// order in which they are used, custom fields, and the profiles that determine which of these
// employees may use.
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

// Codes of the leave setup. Our own codes begin with WRL.
const (
	// CodeInvalid (400): a property has a value that is not allowed.
	CodeInvalid = "WRL-20801"
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WRL-20802"
	// CodeTaken (400): another item has the name. Choose another name.
	CodeTaken = "WRL-20803"
	// CodeUnknown (400, 404): the leave type, rule or custom field does not exist.
	CodeUnknown = "WRL-20804"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WRL-20805"
	// CodeInUse (400): the item is in use. Change or delete the items that refer to it first.
	CodeInUse = "WRL-20806"
	// CodeProfileUnknown (400, 404): the leave profile does not exist.
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

// enabledTypes restricts references to enabled leave types of a group.
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

// checkControl returns an error if a text has control characters other than white space between
// words and lines.
func checkControl(path, text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }) {
		return invalid("%s must not have control characters", path)
	}
	return nil
}

// points reports whether one of the refs has the id.
func points(refs []*commonv1.Ref, id int64) bool {
	for _, ref := range refs {
		if ref.GetId() == id {
			return true
		}
	}
	return false
}
