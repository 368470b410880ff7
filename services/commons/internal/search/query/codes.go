package query

// Codes of queries that cannot be executed.
const (
	// CodeSlow: the query ran too long and was stopped.
	CodeSlow = "WRL-10301"
	// CodeQuery: a query or a profile has a property with an invalid value.
	CodeQuery = "WRL-10302"
	// CodeCostly (413): a query has too many values, or too many costly conditions.
	CodeCostly = "WRL-10306"
	// CodeNested: queries contain each other on too many levels.
	CodeNested = "WRL-10309"
)
