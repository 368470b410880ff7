package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

func TestChoices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		ids, refs         bool
		exactly, of, most string
	}{
		{"none", false, false, "A-1: where needs exactly one of ids and refs.", "N-1: where needs exactly one of ids and refs.", ""},
		{"the first", true, false, "", "", ""},
		{"the second", false, true, "", "", ""},
		{
			"both", true, true, "A-1: where needs exactly one of ids and refs.", "S-1: where needs exactly one of ids and refs.",
			"A-1: where takes only one of ids and refs.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for want, err := range map[*string]error{
				&c.exactly: fault.ExactlyOne("A-1", "where", "ids and refs", c.ids, c.refs),
				&c.of:      fault.OneOf("N-1", "S-1", "where", "ids and refs", c.ids, c.refs),
				&c.most:    fault.AtMostOne("A-1", "where", "ids and refs", c.ids, c.refs),
			} {
				if *want == "" {
					assert.NoError(t, err)
				} else if assert.EqualError(t, err, *want) {
					assert.True(t, fault.HasStatus(err, 400))
				}
			}
		})
	}
}
