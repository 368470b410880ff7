package auth_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/auth"
)

func TestBootstrapTwice(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	again := bootstrap()
	again.Password = "another one"
	require.NoError(t, b.service.EnsureBootstrap(t.Context(), again))
	_, err := b.tokens.IssueToken(t.Context(), passwordGrant())
	assert.NoError(t, err, "the password that was there stays")
	require.NoError(t, b.service.Check(t.Context()))
	var rows int
	require.NoError(t, b.pool.QueryRow(tenant.With(t.Context(), tenant.Default), `SELECT count(*) FROM audit_event WHERE operation = 'bootstrap'`).Scan(&rows))
	assert.Equal(t, 1, rows, "the audit log says once that it was made")
}

// operation is an operator command.
type operation func() error

func (o operation) Operate(context.Context, *auth.Service, io.Writer) error { return o() }

// The first administrator is made beside a service that starts: before it has made its
// schema there is nothing to write to.
func TestTheBootstrapWaitsForTheSchema(t *testing.T) {
	t.Parallel()
	database := pgtest.Config(t)
	sets, err := auth.Migrations()
	require.NoError(t, err)
	do := func(ctx context.Context, of operation) error {
		return auth.DoOnceMigrated(ctx, database, auth.Config{}, of, pgtest.Log(t), io.Discard)
	}
	t.Run("no longer than it is told to", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err := do(ctx, func() error { return errors.New("it has begun") })
		require.ErrorContains(t, err, "the schema of auth does not exist yet")
		assert.NotContains(t, err.Error(), "it has begun")
	})
	t.Run("and begins once", func(t *testing.T) {
		done, begun := make(chan error, 1), 0
		go func() {
			done <- do(t.Context(), func() error { begun++; return errors.New("it has begun") })
		}()
		require.NoError(t, pg.Migrate(t.Context(), database, pgtest.Log(t), sets...))
		require.ErrorContains(t, <-done, "it has begun")
		assert.Equal(t, 1, begun, "an operation that failed is not tried again")
	})
}
