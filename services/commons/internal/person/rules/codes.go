package rules

// Error codes of persons.
const (
	// CodeValues (400): the values of a criterion are missing or no ids.
	CodeValues = "WCO-101202"
	// CodeKey (400): the key of a criterion is not one that is known here.
	CodeKey = "WCO-101203"
	// CodeSnapshot (400): a snapshot date is no date.
	CodeSnapshot = "WCO-101204"
	// CodeMultiKey (400): the keys of a criterion do not go together here.
	CodeMultiKey = "WCO-101221"
	// CodeKeys (400): a criterion has both kinds of keys.
	CodeKeys = "WCO-101314"
	// CodeMissing (400): a property that is required is missing.
	CodeMissing = "WCO-101231"
	// CodeBadValue (400): a property has a value that it may not have.
	CodeBadValue = "WCO-101232"
	// CodeDates (400): effective and expiration dates disagree.
	CodeDates = "WCO-101233"
	// CodeNotUnique (400): somebody else has the value already.
	CodeNotUnique = "WCO-101247"
	// CodeNotAuthorised (403): the caller may not do this to the person, who
	// is beyond what the caller sees.
	CodeNotAuthorised = "WCO-101240"
	// CodeCombination (400): properties that do not go together here.
	CodeCombination = "WCO-101236"
	// CodeTooLong (400): a text is too long.
	CodeTooLong = "WCO-101250"
	// CodeManyIdentities (400): a person is named by several properties.
	CodeManyIdentities = "WCO-101261"
	// CodeNoIdentity (400): a person who is to be changed is not named.
	CodeNoIdentity = "WCO-101262"
	// CodeBadge (400): somebody else carries the badge on some of the days.
	CodeBadge = "WCO-101502"
	// CodeHours (400): hours or percentages out of range. The specification has
	// one code for this and for badges.
	CodeHours = CodeBadge
	// CodeNoPayRule (400): a timekeeping licence without a pay rule.
	CodeNoPayRule = "WCO-101512"
	// CodeChanged (409): others change the same persons all the time.
	CodeChanged = "WCO-101513"
	// CodeNoApprover (400): the approvers do not begin with level 1.
	CodeNoApprover = "WCO-101294"
	// CodeUnknown (400; 404 on a path with an id): there is no such person, or
	// the caller may not see them.
	CodeUnknown = "WCO-101263"
)
