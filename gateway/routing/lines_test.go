package routing

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Lines need a list, and a response that is never stored for an Idempotency-Key.
func TestContractsWithLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy policy.Method
		fails  bool
	}{
		"a read of a list":  {policy.Method{Permission: "a.b.read", Output: (&commonsv1.PersonList{}).ProtoReflect().Descriptor()}, false},
		"a write":           {policy.Method{Permission: "a.b.write", Output: (&commonsv1.PersonList{}).ProtoReflect().Descriptor()}, true},
		"a read of no list": {policy.Method{Permission: "a.b.read", Output: (&commonv1.DateRange{}).ProtoReflect().Descriptor()}, true},
		"a file":            {policy.Method{Permission: "a.b.read", Output: (&timekeepingv1.PayrollExportText{}).ProtoReflect().Descriptor()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.policy.Lines = true
			err := (&Route{Policy: &c.policy}).checkOutput()
			if c.fails {
				assert.ErrorContains(t, err, "cannot be lines")
				return
			}
			require.NoError(t, err)
		})
	}
}
