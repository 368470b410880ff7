package leaveedit

// Error codes of leave edits, beside those of leave cases.
const (
	// CodeEditsEmpty (400): no leave edits are given.
	CodeEditsEmpty = "WFL-100122"
	// CodeDateMissing (400): a leave edit has no date.
	CodeDateMissing = "WFL-100032"
	// CodeOutsideCase (400): a leave edit is outside of the dates of its case.
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
	// CodeStartMissing (400): an end is given without a start.
	CodeStartMissing = "WFL-100156"
	// CodeUnknown (400, and 404 on a path with an id): there is no such leave edit, or the caller does not see it.
	CodeUnknown = "WFL-100128"
	// CodeOtherCase (400): the leave edit belongs to another case.
	CodeOtherCase = "WFL-100120"
	// CodeTooMuch (400): there are more days or leave edits than can be.
	CodeTooMuch = "WFL-100238"
)
