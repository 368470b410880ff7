package query

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// The API description lists the words of responses in upper case only.
func TestCanonicalHasWordsInUpperCase(t *testing.T) {
	t.Parallel()
	given := &commonsv1.HyperfindConstraints{Comparator: "or", Filters: []*commonsv1.HyperfindCondition{
		{Key: "worker_type", Operator: "in", Values: []string{"Night"}},
		{Constraints: &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{{Key: "Badge", Operator: "Is_Null"}}}},
	}}
	before := proto.CloneOf(given)
	_, err := Parse(given)
	require.NoError(t, err)

	got := Canonical(given)

	want := &commonsv1.HyperfindConstraints{Comparator: "OR", Filters: []*commonsv1.HyperfindCondition{
		{Key: "WORKER_TYPE", Operator: "IN", Values: []string{"Night"}},
		{Constraints: &commonsv1.HyperfindConstraints{Comparator: "AND", Filters: []*commonsv1.HyperfindCondition{{Key: "BADGE", Operator: "IS_NULL"}}}},
	}}
	assert.True(t, proto.Equal(want, got), "%v", got)
	assert.True(t, proto.Equal(before, given), "the request stays as it is")
}
