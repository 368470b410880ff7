package pgerr_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

// The test is not parallel, because no other test of the process may meet a full disk in the
// meantime.
func TestAFullDiskIsUnavailableAndSeenInReadiness(t *testing.T) {
	t.Cleanup(func() { pgerr.ForgetFull() })
	now := time.Now()
	require.NoError(t, pgerr.CheckFreeSpace(now))
	for _, state := range []string{"53100", "58030"} {
		t.Run(state, func(t *testing.T) {
			f := pgerr.Fault(&pgconn.PgError{Code: state, Message: "could not extend file: No space left on device"})
			require.NotNil(t, f)
			assert.Equal(t, http.StatusServiceUnavailable, f.Status)
			assert.Positive(t, f.RetryAfter)
			assert.NotContains(t, f.Message, "could not extend")
		})
	}
	require.ErrorContains(t, pgerr.CheckFreeSpace(now), "disk of the PostgreSQL server is full")
	require.ErrorContains(t, pg.CheckSchema(t.Context(), nil), "disk of the PostgreSQL server is full")
	require.NoError(t, pgerr.CheckFreeSpace(now.Add(time.Minute)))
}
