package locationset_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Sets are renamed, deleted and created after the first page.
func TestPagesByCursorHaveEachSetOnce(t *testing.T) {
	t.Parallel()
	ctx, h := newSets(t)
	has := func(name string) int64 {
		made, err := create(ctx, h, "2026-03-01", &commonsv1.LocationSet{Name: name, TypeId: new(int32(1)), NodeRefs: []*commonv1.Ref{at("Acme")}})
		require.NoError(t, err)
		return made.GetId()
	}
	ids := map[string]int64{}
	for _, name := range []string{"E", "D", "C", "B", "A"} {
		ids[name] = has(name)
	}
	var seen []string
	after := ""
	for page := 0; page == 0 || after != ""; page++ {
		found, err := h.PageLocationSets(ctx, &commonsv1.MultiReadLocationSetsRequest{
			Where: &commonsv1.LocationSetWhere{Context: "ORG", Date: "2026-03-01"}, Count: proto.Int32(2), After: &after,
		})
		require.NoError(t, err)
		for _, set := range found.GetRecords().GetLocationSets() {
			seen = append(seen, set.GetName())
		}
		if after = found.GetNext(); page > 0 {
			continue
		}
		_, err = h.DeleteLocationSet(ctx, &commonsv1.DeleteLocationSetRequest{Id: ids["E"]})
		require.NoError(t, err)
		has("0")
	}
	assert.Equal(t, []string{"E", "D", "C", "B", "A", "0"}, seen)
}
