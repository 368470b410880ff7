package rules

// Error codes of persons.
const (
	// CodeValues (400): the values of a criterion are missing or are not ids.
	CodeValues = "WCO-101202"
	// CodeKey (400): the key of a criterion is unknown. Send one of the keys in the message.
	CodeKey = "WCO-101203"
	// CodeSnapshot (400): a snapshot date is invalid.
	CodeSnapshot = "WCO-101204"
	// CodeMultiKey (400): the keys of a criterion cannot be combined.
	CodeMultiKey = "WCO-101221"
	// CodeKeys (400): a criterion has both kinds of keys.
	CodeKeys = "WCO-101314"
	// CodeSignedOff (400): a change of wages begins on a day of a signed-off timecard. Change wages
	// from a later day on, or remove the sign-off first.
	CodeSignedOff = "WCO-101226"
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WCO-101231"
	// CodeBadValue (400): a property has an invalid value.
	CodeBadValue = "WCO-101232"
	// CodeDates (400): effective and expiration dates contradict each other.
	CodeDates = "WCO-101233"
	// CodeNotUnique (400): another person already has the value. Choose another value.
	CodeNotUnique = "WCO-101247"
	// CodeNotAuthorised (403): the caller lacks a permission, or the person is outside the
	// caller's access.
	CodeNotAuthorised = "WCO-101240"
	// CodeCombination (400): the properties cannot be combined.
	CodeCombination = "WCO-101236"
	// CodeTooLong (400): a text is too long.
	CodeTooLong = "WCO-101250"
	// CodeManyIdentities (400): several properties name the person.
	CodeManyIdentities = "WCO-101261"
	// CodeNoIdentity (400): a change does not name its person.
	CodeNoIdentity = "WCO-101262"
	// CodeBadge (400): another person carries the badge on some of the days. End the badge of the
	// other person first.
	CodeBadge = "WCO-101502"
	// CodeHours (400): hours or percentages are out of range. The specification has one code for
	// this and for badges.
	CodeHours = CodeBadge
	// CodeNoPayRule (400): a timekeeping licence requires a pay rule. Name a pay rule in the job
	// assignment.
	CodeNoPayRule = "WCO-101512"
	// CodeChanged (409): other requests keep changing the same persons. Send the request again.
	CodeChanged = "WCO-101513"
	// CodeNoApprover (400): the approvers do not begin with level 1.
	CodeNoApprover = "WCO-101294"
	// CodeUnknown (400; 404 on a path with an id): the person does not exist, or the caller may
	// not see them.
	CodeUnknown = "WCO-101263"
)
