package panics_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/panics"
)

func run(fn func() error) (err error) {
	defer panics.ToError(&err)
	return fn()
}

func TestToError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	t.Run("keeps what the function returns", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, run(func() error { return nil }))
		require.Equal(t, broken, run(func() error { return broken }))
	})
	t.Run("returns the value and the stack of a panic", func(t *testing.T) {
		t.Parallel()
		err := run(func() error { panic("out of order") })
		var panicked *panics.Error
		require.ErrorAs(t, err, &panicked)
		assert.Equal(t, "out of order", panicked.Value)
		assert.ErrorContains(t, err, "panics_test.go")
	})
	t.Run("wraps an error that was panicked with", func(t *testing.T) {
		t.Parallel()
		require.ErrorIs(t, run(func() error { panic(broken) }), broken)
	})
}
