package workrule

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

func TestWorkRules(t *testing.T) {
	t.Parallel()
	type rule = timekeepingv1.WorkRule
	for _, c := range []struct {
		name   string
		given  *rule
		code   string // "" for one that is active or not
		active bool
	}{
		{"a name alone", &rule{Name: "Nights"}, "", true},
		{"one that is active", &rule{Name: "Nights", Active: proto.Bool(true)}, "", true},
		{"one that is not", &rule{Name: "Nights", Active: proto.Bool(false)}, "", false},
		{"no name", &rule{}, paycode.CodeMissing, false},
		{"a blank name", &rule{Name: " \n"}, paycode.CodeMissing, false},
		{"a name with a tab", &rule{Name: "a\tb"}, paycode.CodeInvalid, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := New(&setupname.Names{}).resource.Validate("workRule", c.given)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			require.NotNil(t, got.Active)
			assert.Equal(t, c.active, got.GetActive())
		})
	}
}
