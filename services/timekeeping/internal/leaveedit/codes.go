package leaveedit

// Error codes of leave edits, in addition to those of leave cases.
const (
	// CodeEditsEmpty (400): the request has no leave edits.
	CodeEditsEmpty = "WFL-100122"
	// CodeDateMissing (400): a leave edit has no date.
	CodeDateMissing = "WFL-100032"
	// CodeOutsideCase (400): a leave edit is outside the dates of its case.
	CodeOutsideCase = "WFL-100030"
	// CodePaidMissing (400): a leave edit has no paid segment.
	CodePaidMissing = "WFL-100034"
	// CodeTrackingMissing (400): a leave edit has no tracking segment.
	CodeTrackingMissing = "WFL-100035"
	// CodeAmountMissing (400): a segment has no amount.
	CodeAmountMissing = "WFL-100036"
	// CodeAmountNegative (400): an amount is negative.
	CodeAmountNegative = "WFL-100037"
	// CodeTypeMissing (400): an override segment has no pay code.
	CodeTypeMissing = "WFL-100038"
	// CodeTypeRepeated (400): two override segments have the same pay code.
	CodeTypeRepeated = "WFL-100098"
	// CodeStartMissing (400): a leave edit has an end but no start.
	CodeStartMissing = "WFL-100156"
	// CodeUnknown (400, and 404 on a path with an id): the leave edit does not exist, or the caller
	// cannot see it.
	CodeUnknown = "WFL-100128"
	// CodeOtherCase (400): the leave edit belongs to another case.
	CodeOtherCase = "WFL-100120"
	// CodeTooMuch (400): the number of days or leave edits exceeds the limit.
	CodeTooMuch = "WFL-100238"
)
