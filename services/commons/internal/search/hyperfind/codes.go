// Package hyperfind serves hyperfinds: stored queries over persons, profiles of them,
// and whom they find, by a query, by locations or by a list.
package hyperfind

// Codes of the specified API, with status 400 where nothing else is said.
const (
	// CodeNoSelector: neither a query nor persons nor locations are given.
	CodeNoSelector = "WCO-112001"
	// CodeTooMany: more persons are found than the threshold allows.
	CodeTooMany = "WCO-112003"
	// CodeNoDays: neither days nor a symbolic period are given, or both.
	CodeNoDays = "WCO-112005"
	// CodeSelectors: several of query, persons and locations are given.
	CodeSelectors = "WCO-112006"
	// CodeUnknownQuery: there is no such query.
	CodeUnknownQuery = "WCO-112007"
	// CodeUnknownPersons: there are no such persons.
	CodeUnknownPersons = "WCO-112008"
	// CodeMost (413): the threshold, or what is found, is above the largest
	// threshold.
	CodeMost = "WCO-112013"
	// CodeUnknownLocations: there are no such locations.
	CodeUnknownLocations = "WCO-112017"
	// CodeUnknownProfile (404): there is no such profile.
	CodeUnknownProfile = "WCO-112018"
	// CodeSomeProfiles (207): some profiles are unknown.
	CodeSomeProfiles = "WCO-112020"
	// CodeNoProfiles (404): all profiles that were asked for are unknown.
	CodeNoProfiles = "WCO-112021"
	// CodeUsageType: the usage type is none.
	CodeUsageType = "WCO-112057"
	// CodeNotFound (404): the id in the path is that of no query.
	CodeNotFound = "WCO-112088"
	// CodeWhere: where does not say which queries.
	CodeWhere = "WCO-112094"
	// CodeNone (404): all queries that were asked for are unknown.
	CodeNone = "WCO-112095"
	// CodeSome (207): some queries are unknown.
	CodeSome = "WCO-112098"
)

// Codes of ours, for conditions for which the specified API has none. The
// status is 400 where nothing else is said.
const (
	// CodeTaken: another query or profile has the name or the persistent id.
	CodeTaken = "WRL-10303"
	// CodeBuiltIn: a built-in query cannot be changed.
	CodeBuiltIn = "WRL-10304"
	// CodeFull (413): there are as many queries or profiles as may be.
	CodeFull = "WRL-10305"
)
