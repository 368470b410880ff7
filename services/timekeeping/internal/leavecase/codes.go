package leavecase

import "github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"

// Error codes of leave cases.
const (
	// CodeEmptyBody (400): the body is empty.
	CodeEmptyBody = "WFL-100046"
	// CodeEmployeeMissing (400): no employee is given.
	CodeEmployeeMissing = "WFL-100151"
	// CodeEmployeeIDMissing (400): an employee has neither an id nor a qualifier.
	CodeEmployeeIDMissing = "WFL-100022"
	// CodeEmployeeUnknown (400): there is no such employee, or the caller does not see them.
	CodeEmployeeUnknown = "WFL-100199"
	// CodeApprovalMissing (400): no approval status is given.
	CodeApprovalMissing = "WFL-100011"
	// CodeApprovalUnknown (400): there is no such approval status.
	CodeApprovalUnknown = "WFL-100002"
	// CodeCategoryMissing (400): no leave category is given.
	CodeCategoryMissing = "WFL-100012"
	CodeCategoryUnknown = leavesetup.CodeCategoryUnknown
	// CodeCategoryClosed (400): the leave profile of the employee does not have the category.
	CodeCategoryClosed = "WFL-100027"
	// CodeReasonMissing (400): no leave reason is given.
	CodeReasonMissing = "WFL-100013"
	CodeReasonUnknown = leavesetup.CodeReasonUnknown
	// CodeReasonOfOther (400): the leave reason is one of another category.
	CodeReasonOfOther = "WFL-100028"
	// CodeFrequencyMissing (400): no leave frequency is given.
	CodeFrequencyMissing = "WFL-100007"
	// CodeFrequencyUnknown (400): there is no such leave frequency.
	CodeFrequencyUnknown = "WFL-100018"
	// CodeStatusMissing (400): no status of the case is given.
	CodeStatusMissing = "WFL-100010"
	// CodeStatusUnknown (400): there is no such status of cases.
	CodeStatusUnknown = "WFL-100017"
	// CodeStartMissing (400): no start date is given.
	CodeStartMissing = "WFL-100008"
	// CodeRequestDateMissing (400): no request date is given.
	CodeRequestDateMissing = "WFL-100009"
	// CodeStartAfterEnd (400): the start date is after the end date.
	CodeStartAfterEnd = "WFL-100040"
	// CodeBeforeHire (400): the case starts before the employee is hired.
	CodeBeforeHire = "WFL-100031"
	// CodeFrequencyDateMissing (400): the frequency needs an effective date and has none.
	CodeFrequencyDateMissing = "WFL-100043"
	// CodeFrequencyDateOutside (400): the effective date of the frequency is outside of the case.
	CodeFrequencyDateOutside = "WFL-100044"
	// CodeTooLong (400): a text is longer than it may be.
	CodeTooLong = "WFL-100051"
	// CodeReserved (400): a text has a reserved character.
	CodeReserved = "WFL-100111"
	// CodeNotUnique (400): another case has the code.
	CodeNotUnique = "WFL-100109"
	// CodeCaseMissing (400): no leave case is given.
	CodeCaseMissing = "WFL-100150"
	// CodeCaseIDMissing (400): a leave case has neither an id nor a qualifier.
	CodeCaseIDMissing = "WFL-100033"
	// CodeCaseUnknown (400, and 404 on a path with an id): there is no such leave case, or the caller does not see it.
	CodeCaseUnknown = "WFL-100029"
	// CodeHasEdits (400): a case with leave edits is to be deleted. Delete them first, or with it.
	CodeHasEdits = "WFL-100041"
	// CodeClosed (400): the case is closed. Open it first.
	CodeClosed = "WFL-100042"
	// CodeSubmitted (400): the case is submitted, and not open yet.
	CodeSubmitted = "WFL-100039"
	// CodeEditsBeforeStart (400): leave edits would lie before the start of the case.
	CodeEditsBeforeStart = "WFL-100001"
	// CodeEditsAfterEnd (400): leave edits would lie after the end of the case.
	CodeEditsAfterEnd = "WFL-100016"
	// CodeEmployeesEmpty (400): the list of employees is empty.
	CodeEmployeesEmpty = "WFL-100102"
	// CodeRangeMissing (400): no range of dates is given.
	CodeRangeMissing = "WFL-100253"
	// CodeRangeStartMissing (400): a range of dates has no start.
	CodeRangeStartMissing = "WFL-100065"
	// CodeRangeEndMissing (400): a range of dates has no end.
	CodeRangeEndMissing = "WFL-100066"
	// CodeGrantMissing (400): a grant has no amount.
	CodeGrantMissing = "WFL-100036"
	// CodeGrantNegative (400): the amount of a grant is negative.
	CodeGrantNegative = "WFL-100037"
	// CodeStatusIDMissing (400): a status has neither an id nor a qualifier.
	CodeStatusIDMissing = "WFL-100251"
)
