package examples

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGUIDsFollowTheirObjects(t *testing.T) {
	t.Parallel()
	const before, after, other = "71f91a84-b79a-4987-b54f-b5a6533feed0", "9a5595b3-e48f-4f9c-9dde-2401e12bd317", "25ba2a62-7f0d-4f31-8bb7-5f1452fc6641"
	type object = map[string]any
	g := newGUIDs()
	g.relate(
		object{"name": "Ada", "links": []any{object{"href": "/v1/recruiting/candidates/" + before}}},
		object{"name": "Bo", "links": []any{object{"href": "/v1/recruiting/candidates/" + after}, object{"href": other}}},
	)
	assert.Equal(t, "/v1/recruiting/candidates/"+after+"/comments", g.insertCurrent("/v1/recruiting/candidates/"+before+"/comments"))
	assert.Equal(t, "/v1/recruiting/offers/"+other, g.insertCurrent("/v1/recruiting/offers/"+other), "unknown GUIDs stay")
	assert.Equal(t, []any{object{"id": before, "size": 3.0}, other}, g.restoreRecorded([]any{object{"id": after, "size": 3.0}, other}))
}
