package pgtest

import (
	"context"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// RequireOlderRefused fails unless a version of the last set, the service's own, rejects a database
// in which a statement has stored data before, and accepts an empty one.
func RequireOlderRefused(t testing.TB, sets []pg.Migrations, version int, insert string) {
	t.Helper()
	ctx, before := tenant.With(t.Context(), tenant.Default), olderThan(t, version, sets)
	empty := Config(t, before...)
	require.NoError(t, pg.Migrate(ctx, empty, Log(t), sets...))

	used := Config(t, before...)
	store(t, ctx, used, insert)
	err := pg.Migrate(ctx, used, Log(t), sets...)
	require.ErrorContains(t, err, "an older build of Rotaloom wrote this data")
	require.ErrorContains(t, err, "CHANGELOG.md")
}

func store(t testing.TB, ctx context.Context, cfg pg.Config, insert string) {
	t.Helper()
	pool, err := pg.Open(ctx, cfg, Log(t))
	require.NoError(t, err)
	defer pool.Close()
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, insert)
		return err
	}))
}

// olderThan returns the sets as of before a version of the last one.
func olderThan(t testing.TB, version int, sets []pg.Migrations) []pg.Migrations {
	t.Helper()
	own := sets[len(sets)-1]
	names, err := fs.Glob(own.FS, "*.sql")
	require.NoError(t, err)
	older := fstest.MapFS{}
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.Atoi(number)
		require.NoError(t, err, name)
		if n < version {
			data, err := fs.ReadFile(own.FS, name)
			require.NoError(t, err)
			older[name] = &fstest.MapFile{Data: data}
		}
	}
	return append(append([]pg.Migrations(nil), sets[:len(sets)-1]...), pg.Migrations{Table: own.Table, FS: older})
}
