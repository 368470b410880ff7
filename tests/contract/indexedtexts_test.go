package contract_test

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// An index of PostgreSQL accepts texts up to about 2,700 bytes. The ids of other systems are
// indexed. The longest allowed id is accepted, even if each character has four bytes and the text
// cannot be compressed. A longer id is refused.
func TestTheLongestIDsFitTheirIndexes(t *testing.T) {
	t.Parallel()
	api := scenario.API{Target: launch.Standalone(t, "--no-throttle", "--log-level", "error").Target(t)}
	text := func(characters int) string {
		var b strings.Builder
		for range characters {
			b.WriteRune(rune(0x20000 + rand.IntN(0xa000)))
		}
		return b.String()
	}
	for _, c := range []struct {
		path, property string
		max            int
		body           scenario.Object
	}{
		{"/v1/commons/jobs", "externalId", 650, scenario.Object{}},
		{"/v1/commons/jobs", "persistentId", 650, scenario.Object{}},
		{"/v1/commons/locations", "externalId", 650, scenario.Object{}},
		{"/v1/commons/locations", "persistentId", 650, scenario.Object{}},
		{"/v1/commons/location_sets", "persistentId", 200, scenario.Object{"typeId": 1}},
		{"/v1/commons/location_types", "persistentId", 200, scenario.Object{}},
	} {
		t.Run(c.path+" "+c.property, func(t *testing.T) {
			t.Parallel()
			send := func(characters int) error {
				c.body["name"], c.body[c.property] = text(10), text(characters)
				_, _, err := api.Bytes(t.Context(), http.MethodPost, c.path, c.body)
				return err
			}
			require.NoError(t, send(c.max))
			var refused *scenario.Refused
			require.ErrorAs(t, send(c.max+1), &refused)
			assert.Equal(t, http.StatusBadRequest, refused.Status, "%s", refused.Body)
			assert.Contains(t, string(refused.Body), "WRL-10203")
		})
	}
}
