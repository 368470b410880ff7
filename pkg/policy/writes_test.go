package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/policy"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

func TestMethodsThatWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		method policy.Method
		writes bool
	}{
		{"a permission to write", policy.Method{Permission: "test.thing.write", Throttle: optionsv1.Throttle_THROTTLE_READ}, true},
		{"a permission to read, in a class of writes", policy.Method{Permission: "test.thing.read", Throttle: optionsv1.Throttle_THROTTLE_WRITE}, false},
		{"between services, a write", policy.Method{Internal: true, Throttle: optionsv1.Throttle_THROTTLE_WRITE}, true},
		{"between services, many writes", policy.Method{Internal: true, Throttle: optionsv1.Throttle_THROTTLE_BULK_WRITE}, true},
		{"between services, a read", policy.Method{Internal: true, Throttle: optionsv1.Throttle_THROTTLE_READ}, false},
		{"between services, many reads", policy.Method{Internal: true, Throttle: optionsv1.Throttle_THROTTLE_BULK_READ}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.writes, c.method.Writes())
		})
	}
}

func TestMethodsThatChangeData(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method  policy.Method
		changes bool
	}{
		"a permission to write":                {policy.Method{Permission: "test.thing.write", Throttle: optionsv1.Throttle_THROTTLE_READ}, true},
		"one's own, in a class of writes":      {policy.Method{Authenticated: true, Throttle: optionsv1.Throttle_THROTTLE_WRITE}, true},
		"a permission to read":                 {policy.Method{Permission: "test.thing.read", Throttle: optionsv1.Throttle_THROTTLE_BULK_READ}, false},
		"a log-in":                             {policy.Method{Public: true, Throttle: optionsv1.Throttle_THROTTLE_LOGIN}, false},
		"between services":                     {policy.Method{Internal: true, Throttle: optionsv1.Throttle_THROTTLE_WRITE}, true},
		"an edge's own, which reads need, too": {policy.Method{Internal: true, Edge: true, Throttle: optionsv1.Throttle_THROTTLE_WRITE}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.changes, c.method.ChangesData())
		})
	}
}
