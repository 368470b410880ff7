package hyperfind

import (
	"google.golang.org/protobuf/proto"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

// Visibilities and usage types, in the spelling of responses.
const (
	visibilityPublic   = "Public"
	visibilityPersonal = "Personal"
	usageHome          = "Home"
	usageRegular       = "Regular"
	// inclusive is the default filter type of queries.
	inclusive = "INCLUSIVE"
)

// firstOwnID is the smallest id of a stored query; smaller ids are built-in queries.
const firstOwnID = 1000

// builtIn returns the queries that every tenant has. The caller's row rules limit their
// results, so "home" means the employees that the caller manages.
func builtIn() []*storedQuery {
	active := &commonsv1.HyperfindCondition{Key: query.KeyStatus, Operator: "EQUAL_TO", Values: []string{"Active"}}
	located := &commonsv1.HyperfindCondition{Key: query.KeyLocation, Operator: "IS_NOT_NULL"}
	return []*storedQuery{
		standard(1, "All Home", "all-home", "Who is employed and has a primary job.", active, located),
		standard(2, "All Home and Transferred-in", "all-home-and-transferred-in",
			"Who is employed, whether or not they have a primary job.", active),
		// Clients of the reference product use this id for all persons.
		standard(-9, "All People", "all-people", "Everybody whose employment is not terminated."),
	}
}

func standard(id int64, name, persistentID, description string, filters ...*commonsv1.HyperfindCondition) *storedQuery {
	return &storedQuery{public: true, HyperfindQuery: &commonsv1.HyperfindQuery{
		Id: proto.Int64(id), Name: proto.String(name), Description: proto.String(description),
		Visibility: visibility(true), UsageType: usageRegular, PersistentId: persistentID, InclusiveExclusivefilterType: inclusive,
		Constraints: &commonsv1.HyperfindConstraints{Comparator: "AND", Filters: filters},
	}}
}

func visibility(public bool) *commonsv1.HyperfindVisibility {
	if public {
		return &commonsv1.HyperfindVisibility{Id: proto.Int64(1), Name: visibilityPublic}
	}
	return &commonsv1.HyperfindVisibility{Id: proto.Int64(2), Name: visibilityPersonal}
}
