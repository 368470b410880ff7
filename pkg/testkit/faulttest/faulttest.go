// Package faulttest has assertions about errors that callers see.
package faulttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// RequireCode fails unless an error has a code; "" means no error.
func RequireCode(t testing.TB, code string, err error) {
	t.Helper()
	if code == "" {
		require.NoError(t, err)
		return
	}
	require.True(t, fault.HasCode(err, code), "%v instead of %s", err, code)
}

// Require fails unless an error has a code and a status, and returns it as a fault.
func Require(t testing.TB, err error, code string, status int) *fault.Error {
	t.Helper()
	require.Error(t, err)
	f := fault.FromError(err)
	require.Equal(t, code, f.Code, f.Message)
	require.Equal(t, status, f.Status)
	return f
}
