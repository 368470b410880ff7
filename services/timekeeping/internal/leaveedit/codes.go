package leaveedit

// Error codes of leave edits, beside those of leave cases. All are 400.
const (
	CodeEditsEmpty      = "WFL-100122"
	CodeDateMissing     = "WFL-100032"
	CodeOutsideCase     = "WFL-100030"
	CodePaidMissing     = "WFL-100034"
	CodeTrackingMissing = "WFL-100035"
	CodeAmountMissing   = "WFL-100036"
	CodeAmountNegative  = "WFL-100037"
	CodeTypeMissing     = "WFL-100038" // an override segment without pay code
	CodeTypeRepeated    = "WFL-100098" // two override segments with one pay code
	CodeStartMissing    = "WFL-100156" // an end without a start
	CodeUnknown         = "WFL-100128" // 404 on a path with an id
	CodeOtherCase       = "WFL-100120"
	CodeTooMuch         = "WFL-100238" // more days or entities than can be
)
