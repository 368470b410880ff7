package pgerr_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
)

func TestABadMomentIsNoFailure(t *testing.T) {
	t.Parallel()
	for state, after := range map[string]time.Duration{
		"57P01": 5 * time.Second, "57P03": 5 * time.Second, "08006": 5 * time.Second, "53300": 5 * time.Second, // away
		"40001": time.Second, "40P01": time.Second, // competitors
		"57014": 5 * time.Second, "55P03": 5 * time.Second, // given up
	} {
		t.Run(state, func(t *testing.T) {
			cause := fmt.Errorf("store: %w", &pgconn.PgError{Code: state})
			f := pgerr.Fault(cause)
			require.NotNil(t, f, state)
			assert.Equal(t, http.StatusServiceUnavailable, f.Status, state)
			assert.Equal(t, after, f.RetryAfter, state)
			assert.ErrorIs(t, f, cause, state)
		})
	}
	assert.Nil(t, pgerr.Fault(nil))
	assert.Nil(t, pgerr.Fault(errors.New("something else")))
	assert.Nil(t, pgerr.Fault(&pgconn.PgError{Code: "23505"}))
}
