// Package hyperfind serves hyperfinds: stored queries over persons, profiles of queries, and
// the execution of a query, a list of locations or a list of persons.
package hyperfind

// Codes of the specified API, with the status 400 unless stated otherwise.
const (
	// CodeNoSelector: the request has no query, persons or locations.
	CodeNoSelector = "WCO-112001"
	// CodeTooMany: the result exceeds the threshold. Ask for fewer employees, or send a higher
	// threshold.
	CodeTooMany = "WCO-112003"
	// CodeNoDays: the request has neither days nor a symbolic period, or both.
	CodeNoDays = "WCO-112005"
	// CodeSelectors: the request has several of query, persons and locations.
	CodeSelectors = "WCO-112006"
	// CodeUnknownQuery: the query does not exist.
	CodeUnknownQuery = "WCO-112007"
	// CodeUnknownPersons: the persons do not exist.
	CodeUnknownPersons = "WCO-112008"
	// CodeMost (413): the threshold or the result is above the largest threshold.
	CodeMost = "WCO-112013"
	// CodeUnknownLocations: the locations do not exist.
	CodeUnknownLocations = "WCO-112017"
	// CodeUnknownProfile (404): the profile does not exist.
	CodeUnknownProfile = "WCO-112018"
	// CodeSomeProfiles (207): some profiles are unknown.
	CodeSomeProfiles = "WCO-112020"
	// CodeNoProfiles (404): all requested profiles are unknown.
	CodeNoProfiles = "WCO-112021"
	// CodeUsageType: the usage type is invalid.
	CodeUsageType = "WCO-112057"
	// CodeNotFound (404): no query has the id in the path.
	CodeNotFound = "WCO-112088"
	// CodeWhere: the where property does not select queries correctly.
	CodeWhere = "WCO-112094"
	// CodeNone (404): all requested queries are unknown.
	CodeNone = "WCO-112095"
	// CodeSome (207): some queries are unknown.
	CodeSome = "WCO-112098"
)

// Codes for conditions without a code in the specified API. The status is 400 unless stated
// otherwise.
const (
	// CodeTaken: another query or profile already has the name or the persistent id. Choose another
	// one.
	CodeTaken = "WRL-10303"
	// CodeBuiltIn: a built-in query cannot be changed. Create a query of your own.
	CodeBuiltIn = "WRL-10304"
	// CodeFull (413): the maximum number of queries or profiles is reached. Delete unused ones first.
	CodeFull = "WRL-10305"
	// CodeInUse: persons have the query as their employee group, or other queries contain it. Change them
	// first.
	CodeInUse = "WRL-10307"
	// CodeCycle: a query contains itself, directly or through other queries.
	CodeCycle = "WRL-10308"
)
