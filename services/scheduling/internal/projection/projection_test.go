package projection

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// fixture is a database, and the services that own the projected data.
type fixture struct {
	t    *testing.T
	ctx  context.Context
	pool *pg.Pool
	*Resolver
	copies  *Copies
	commons *fakeCommons
}

func newFixture(t *testing.T) *fixture {
	t.Parallel()
	pool := schedtest.NewPool(t)
	w := &fixture{
		t: t, ctx: tenant.With(t.Context(), tenant.Default), pool: pool,
		copies: NewCopies(pool, nil), commons: &fakeCommons{},
	}
	w.Resolver = NewResolver(pool, w.commons, nil)
	return w
}

func (w *fixture) inTx(fn func(ctx context.Context, tx pgx.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, pg.InTx(w.ctx, w.pool, fn))
}

func (w *fixture) persons(states ...*commonsv1.PersonState) {
	w.t.Helper()
	w.inTx(func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, w.copies.persons, states)
	})
}

func person(id, version int64, number string) *commonsv1.PersonState {
	return &commonsv1.PersonState{
		PersonId: id, Version: version, PersonNumber: number, FullName: "Name of " + number, TimeZone: "Europe/Zurich",
	}
}

type fakeCommons struct {
	commonsv1.PersonServiceClient
	persons []*commonsv1.PersonState
	calls   atomic.Int32
}

func (f *fakeCommons) ResolvePersons(_ context.Context, req *commonsv1.ResolvePersonsRequest, _ ...grpc.CallOption) (*commonsv1.ResolvePersonsResponse, error) {
	f.calls.Add(1)
	response := &commonsv1.ResolvePersonsResponse{}
	for _, p := range f.persons {
		if slices.Contains(req.GetIds(), p.GetPersonId()) || slices.Contains(req.GetPersonNumbers(), p.GetPersonNumber()) {
			response.Persons = append(response.Persons, p)
		}
	}
	return response, nil
}
