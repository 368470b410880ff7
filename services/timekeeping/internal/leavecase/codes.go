package leavecase

import "github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"

// Error codes of leave cases. All are 400.
const (
	CodeEmptyBody            = "WFL-100046"
	CodeEmployeeMissing      = "WFL-100151" // no employee
	CodeEmployeeIDMissing    = "WFL-100022" // an employee without id and qualifier
	CodeEmployeeUnknown      = "WFL-100199"
	CodeApprovalMissing      = "WFL-100011"
	CodeApprovalUnknown      = "WFL-100002"
	CodeCategoryMissing      = "WFL-100012"
	CodeCategoryUnknown      = leavesetup.CodeCategoryUnknown
	CodeReasonMissing        = "WFL-100013"
	CodeReasonUnknown        = leavesetup.CodeReasonUnknown
	CodeReasonOfOther        = "WFL-100028" // a reason of another category
	CodeFrequencyMissing     = "WFL-100007"
	CodeFrequencyUnknown     = "WFL-100018"
	CodeStatusMissing        = "WFL-100010"
	CodeStatusUnknown        = "WFL-100017"
	CodeStartMissing         = "WFL-100008"
	CodeRequestDateMissing   = "WFL-100009"
	CodeStartAfterEnd        = "WFL-100040"
	CodeBeforeHire           = "WFL-100031"
	CodeFrequencyDateMissing = "WFL-100043"
	CodeFrequencyDateOutside = "WFL-100044"
	CodeTooLong              = "WFL-100051"
	CodeReserved             = "WFL-100111"
	CodeNotUnique            = "WFL-100109"
	CodeCaseMissing          = "WFL-100150" // no case
	CodeCaseIDMissing        = "WFL-100033" // a case without id and qualifier
	CodeCaseUnknown          = "WFL-100029" // 404 on a path with an id
	CodeHasEdits             = "WFL-100041"
	CodeClosed               = "WFL-100042"
	CodeSubmitted            = "WFL-100039"
	CodeEditsBeforeStart     = "WFL-100001"
	CodeEditsAfterEnd        = "WFL-100016"
	CodeEmployeesEmpty       = "WFL-100102"
	CodeRangeMissing         = "WFL-100253"
	CodeRangeStartMissing    = "WFL-100065"
	CodeRangeEndMissing      = "WFL-100066"
	CodeStatusIDMissing      = "WFL-100251"
)
