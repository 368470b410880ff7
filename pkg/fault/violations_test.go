package fault_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

func TestFaultsAreJoined(t *testing.T) {
	t.Parallel()
	first := fault.Invalid("WRL-1", "a is wrong.").WithMembers("a")
	second := fault.TooLarge("WRL-2", "b is too long.").WithMembers("b").WithLimits(3, 2)
	plain := fault.Invalid("WRL-3", "The request is wrong.")
	for name, c := range map[string]struct {
		errs  []error
		code  string
		paths []string // of the violations
	}{
		"several":                   {[]error{nil, first, second, plain}, "WRL-1", []string{"a", "b", ""}},
		"another order":             {[]error{second, first}, "WRL-2", []string{"b", "a"}},
		"joined before":             {[]error{fault.Join(first, second), plain}, "WRL-1", []string{"a", "b", ""}},
		"the same twice":            {[]error{first, first}, "WRL-1", []string{"a"}},
		"one with a property":       {[]error{first}, "WRL-1", []string{"a"}},
		"one without a property":    {[]error{plain}, "WRL-3", nil},
		"an error of the server":    {[]error{fault.Internal(assert.AnError), first}, fault.CodeInternal, nil},
		"an error after a fault":    {[]error{first, assert.AnError, fault.NotFound("WRL-4", "None.")}, "WRL-1", []string{"a"}},
		"a refusal before a fault":  {[]error{fault.Forbidden("WRL-5", "No."), first}, "WRL-5", nil},
		"wrapped by another error":  {[]error{fmt.Errorf("reading: %w", first), plain}, "WRL-1", []string{"a", ""}},
		"a fault with more details": {[]error{second, plain}, "WRL-2", []string{"b", ""}},
		"one that is too large":     {[]error{second}, "WRL-2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fault.FromError(fault.Join(c.errs...))
			require.NotNil(t, got)
			assert.Equal(t, c.code, got.Code)
			var paths []string
			for _, v := range got.Details.GetViolations() {
				paths = append(paths, v.GetPath())
			}
			assert.Equal(t, c.paths, paths)
		})
	}
	require.NoError(t, fault.Join(nil, nil))
	require.NoError(t, fault.MovePaths(nil, "a", ""))
	assert.Equal(t, []string{"punches[2]"}, fault.FromError(fault.MovePaths(plain, "", "punches[2].")).Members)
	inner := fault.FromError(fault.MovePaths(fault.Join(first.WithMembers("thing.a"), second.WithMembers("other")), "thing.", ""))
	assert.Equal(t, []string{"a"}, inner.Members)
	assert.Equal(t, "a", inner.Details.GetViolations()[0].GetPath())
	assert.Equal(t, "other", inner.Details.GetViolations()[1].GetPath())
	assert.Len(t, fault.FromError(fault.Join(second, first)).Details.GetLimits(), 1, "the other details stay")
	assert.Empty(t, second.Details.GetViolations(), "an error is never changed")

	list := fault.List{}
	assert.True(t, list.Add(nil))
	require.NoError(t, list.Err())
	assert.True(t, list.Add(first))
	assert.False(t, list.Stopped())
	assert.False(t, list.Add(assert.AnError), "the connection may be lost")
	assert.True(t, list.Stopped())
	assert.Equal(t, first.Code, fault.FromError(list.Err()).Code)

	var many []error
	for i := range 30 {
		many = append(many, first.WithMembers(fmt.Sprint(i)))
	}
	assert.Len(t, fault.FromError(fault.Join(many...)).Details.GetViolations(), fault.MaxViolations)
}
