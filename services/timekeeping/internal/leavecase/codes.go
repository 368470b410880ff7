package leavecase

import "github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"

// Error codes of leave cases.
const (
	// CodeEmptyBody (400): the body is empty.
	CodeEmptyBody = "WFL-100046"
	// CodeEmployeeMissing (400): the employee is missing.
	CodeEmployeeMissing = "WFL-100151"
	// CodeEmployeeIDMissing (400): an employee has neither an id nor a qualifier.
	CodeEmployeeIDMissing = "WFL-100022"
	// CodeEmployeeUnknown (400): the employee does not exist, or the caller cannot see them.
	CodeEmployeeUnknown = "WFL-100199"
	// CodeApprovalMissing (400): the approval status is missing.
	CodeApprovalMissing = "WFL-100011"
	// CodeApprovalUnknown (400): the approval status does not exist.
	CodeApprovalUnknown = "WFL-100002"
	// CodeCategoryMissing (400): the leave category is missing.
	CodeCategoryMissing = "WFL-100012"
	CodeCategoryUnknown = leavesetup.CodeCategoryUnknown
	// CodeCategoryClosed (400): the leave profile of the employee does not have the category.
	CodeCategoryClosed = "WFL-100027"
	// CodeReasonMissing (400): the leave reason is missing.
	CodeReasonMissing = "WFL-100013"
	CodeReasonUnknown = leavesetup.CodeReasonUnknown
	// CodeReasonOfOther (400): the leave reason belongs to another category.
	CodeReasonOfOther = "WFL-100028"
	// CodeFrequencyMissing (400): the leave frequency is missing.
	CodeFrequencyMissing = "WFL-100007"
	// CodeFrequencyUnknown (400): the leave frequency does not exist.
	CodeFrequencyUnknown = "WFL-100018"
	// CodeStatusMissing (400): the status of the case is missing.
	CodeStatusMissing = "WFL-100010"
	// CodeStatusUnknown (400): the status of the case does not exist.
	CodeStatusUnknown = "WFL-100017"
	// CodeStartMissing (400): the start date is missing.
	CodeStartMissing = "WFL-100008"
	// CodeRequestDateMissing (400): the request date is missing.
	CodeRequestDateMissing = "WFL-100009"
	// CodeStartAfterEnd (400): the start date is after the end date.
	CodeStartAfterEnd = "WFL-100040"
	// CodeBeforeHire (400): the case starts before the hire date of the employee.
	CodeBeforeHire = "WFL-100031"
	// CodeFrequencyDateMissing (400): the frequency needs an effective date.
	CodeFrequencyDateMissing = "WFL-100043"
	// CodeFrequencyDateOutside (400): the effective date of the frequency is outside the case.
	CodeFrequencyDateOutside = "WFL-100044"
	// CodeTooLong (400): a text is too long.
	CodeTooLong = "WFL-100051"
	// CodeReserved (400): a text contains a reserved character. Leave the character out.
	CodeReserved = "WFL-100111"
	// CodeNotUnique (400): another case has the code. Choose another code.
	CodeNotUnique = "WFL-100109"
	// CodeCaseMissing (400): the leave case is missing.
	CodeCaseMissing = "WFL-100150"
	// CodeCaseIDMissing (400): a leave case has neither an id nor a qualifier.
	CodeCaseIDMissing = "WFL-100033"
	// CodeCaseUnknown (400, and 404 on a path with an id): the leave case does not exist, or the
	// caller cannot see it.
	CodeCaseUnknown = "WFL-100029"
	// CodeHasEdits (400): the case has leave edits and cannot be deleted alone. Delete the edits
	// first, or together with the case.
	CodeHasEdits = "WFL-100041"
	// CodeClosed (400): the case is closed. Open it first.
	CodeClosed = "WFL-100042"
	// CodeSubmitted (400): the case is submitted and not yet open.
	CodeSubmitted = "WFL-100039"
	// CodeEditsBeforeStart (400): the case would start after some of its leave edits. Send an earlier
	// start, or delete these leave edits first.
	CodeEditsBeforeStart = "WFL-100001"
	// CodeEditsAfterEnd (400): the case would end before some of its leave edits. Send a later end,
	// or delete these leave edits first.
	CodeEditsAfterEnd = "WFL-100016"
	// CodeEmployeesEmpty (400): the list of employees is empty.
	CodeEmployeesEmpty = "WFL-100102"
	// CodeRangeMissing (400): the date range is missing.
	CodeRangeMissing = "WFL-100253"
	// CodeRangeStartMissing (400): a date range has no start.
	CodeRangeStartMissing = "WFL-100065"
	// CodeRangeEndMissing (400): a date range has no end.
	CodeRangeEndMissing = "WFL-100066"
	// CodeGrantMissing (400): a grant has no amount.
	CodeGrantMissing = "WFL-100036"
	// CodeGrantNegative (400): the amount of a grant is negative.
	CodeGrantNegative = "WFL-100037"
	// CodeStatusIDMissing (400): a status has neither an id nor a qualifier.
	CodeStatusIDMissing = "WFL-100251"
)
