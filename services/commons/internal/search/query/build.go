package query

import "github.com/rotaloom/rotaloom/pkg/civil"

// Persons returns the condition of being one of the given persons.
func Persons(ids []int64) *Node {
	return leaf(condition{key: key{kind: text, table: "person", column: "id"}, operator: in, ids: ids})
}

// WithPayRule returns the condition of having a pay rule on some of the days.
func WithPayRule() *Node {
	k, _ := keyNamed("PAY_RULE")
	return leaf(condition{key: k, operator: isNotNull})
}

// AtLocations returns the condition of having the primary job at one of the locations or
// below, on some of the days.
func AtLocations(ids []int64) *Node {
	k, _ := keyNamed(KeyLocation)
	return leaf(condition{key: k, operator: in, ids: ids, names: []string{}})
}

// IsTerminated returns the condition that the employment is terminated on some of the days,
// or on all of them.
func IsTerminated(days civil.Range, onAll bool) *Node {
	k, _ := keyNamed(KeyStatus)
	return leaf(condition{key: k, operator: in, texts: []string{terminated}, days: &days, whole: onAll})
}
