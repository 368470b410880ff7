package query

// Codes of queries that cannot be asked.
const (
	// CodeSlow: the query ran too long and was stopped.
	CodeSlow = "WRL-10301"
	// CodeQuery: a query or a profile has a property that it cannot have.
	CodeQuery = "WRL-10302"
	// CodeCostly (413): a query has too many values, or too many conditions that
	// cost much.
	CodeCostly = "WRL-10306"
)
