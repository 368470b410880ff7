package query

// Codes of queries that cannot be executed.
const (
	// CodeSlow: the query ran too long and was stopped. Make the query simpler, or ask for fewer
	// days.
	CodeSlow = "WRL-10301"
	// CodeQuery: a query or a profile has a property with an invalid value.
	CodeQuery = "WRL-10302"
	// CodeCostly (413): a query has too many values, or too many costly conditions. Give one filter a
	// list instead of many filters, or split the query.
	CodeCostly = "WRL-10306"
	// CodeNested: queries contain each other on too many levels.
	CodeNested = "WRL-10309"
)
