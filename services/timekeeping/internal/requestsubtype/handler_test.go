package requestsubtype_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/requestsubtype"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type fixture struct {
	ctx    context.Context
	pool   *pg.Pool
	client timekeepingv1.RequestSubtypeServiceClient
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	pool, local := pooltest.New(t), rpctest.Local(t)
	timekeepingv1.RegisterRequestSubtypeServiceServer(local, requestsubtype.New(pool))
	return &fixture{
		ctx: tenant.With(t.Context(), tenant.Default), pool: pool,
		client: timekeepingv1.NewRequestSubtypeServiceClient(local.Conn("test", nil)),
	}
}

func swap(name string) *timekeepingv1.RequestSubtype {
	return &timekeepingv1.RequestSubtype{SwapRequest: &timekeepingv1.SwapRequestSubtype{
		Name: name, Symbol: "S", AllowSwapWithUnpostedShifts: proto.Bool(false),
		Translations: []*timekeepingv1.RequestSubtypeTranslation{{Language: "DE-ch", Name: "Tausch", Description: "Schichten tauschen"}},
	}}
}

func TestTenantsBeginWithOneOfEachKind(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	other := tenant.With(t.Context(), 7)
	for i, ctx := range []context.Context{w.ctx, other} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			lists, err := w.client.MultiReadRequestSubtypes(ctx, &timekeepingv1.MultiReadRequestSubtypesRequest{})
			require.NoError(t, err)
			require.Len(t, lists.GetTimeOffRequests(), 1)
			assert.EqualValues(t, 1, lists.GetTimeOffRequests()[0].GetId())
			assert.Equal(t, "time_off_request", lists.GetTimeOffRequests()[0].GetRequestType().GetSymbolicId())
			require.Len(t, lists.GetLeaveOfAbsenceRequests(), 1)
			assert.EqualValues(t, 8, lists.GetLeaveOfAbsenceRequests()[0].GetId())
		})
	}
	_, err := w.client.DeleteRequestSubtype(w.ctx, &timekeepingv1.DeleteRequestSubtypeRequest{Id: 5})
	require.NoError(t, err)
	_, err = w.client.GetRequestSubtype(w.ctx, &timekeepingv1.GetRequestSubtypeRequest{Id: 5})
	faulttest.Require(t, err, requestsubtype.CodeUnknownID, 404)
	_, err = w.client.GetRequestSubtype(other, &timekeepingv1.GetRequestSubtypeRequest{Id: 5})
	require.NoError(t, err, "the other tenant keeps its own")
}

func TestManyCallersBeginAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			_, err := w.client.GetRequestSubtype(w.ctx, &timekeepingv1.GetRequestSubtypeRequest{Id: 3})
			return err
		})
	}
	require.NoError(t, group.Wait())
	var rows int
	require.NoError(t, w.pool.QueryRow(w.ctx, "SELECT count(*) FROM request_subtype").Scan(&rows))
	assert.Equal(t, 8, rows)
}

func TestLifeOfARequestSubtype(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	created, err := w.client.CreateRequestSubtype(w.ctx, swap("Trade"))
	require.NoError(t, err)
	id := created.GetSwapRequest().GetId()
	assert.Greater(t, id, int64(100))
	assert.Equal(t, "1", created.GetSwapRequest().GetVersion())
	assert.Equal(t, "Trade", created.GetSwapRequest().GetLocalizedName())
	assert.Equal(t, "Swap", created.GetSwapRequest().GetRequestType().GetName())

	german := metadata.AppendToOutgoingContext(w.ctx, "accept-language", "fr, de-CH;q=0.5")
	var header metadata.MD
	found, err := w.client.FindRequestSubtype(german, &timekeepingv1.FindRequestSubtypeRequest{Name: "TRADE"}, grpc.Header(&header))
	require.NoError(t, err)
	assert.Equal(t, "Tausch", found.GetSwapRequest().GetLocalizedName())
	assert.Equal(t, "Schichten tauschen", found.GetSwapRequest().GetLocalizedDescription())
	assert.Equal(t, []string{"de-CH"}, header.Get(rpc.HeaderContentLanguage))

	changed := swap("Trade shifts")
	changed.GetSwapRequest().Version = "1"
	update := &timekeepingv1.UpdateRequestSubtypeRequest{Id: id, RequestSubtype: changed}
	updated, err := w.client.UpdateRequestSubtype(w.ctx, update)
	require.NoError(t, err)
	assert.Equal(t, "2", updated.GetSwapRequest().GetVersion())
	_, err = w.client.UpdateRequestSubtype(w.ctx, update)
	faulttest.Require(t, err, fault.CodeStale, 409)

	lists, err := w.client.MultiReadRequestSubtypes(german, &timekeepingv1.MultiReadRequestSubtypesRequest{
		Where: &timekeepingv1.RequestSubtypeWhere{RequestTypes: &timekeepingv1.RequestTypeRefs{Qualifiers: []string{"SWAP", "cover_request"}}},
	})
	require.NoError(t, err)
	require.Len(t, lists.GetSwapRequests(), 2)
	assert.Equal(t, "Tausch", lists.GetSwapRequests()[1].GetLocalizedName(), "by name: Swap, Trade shifts")
	assert.Len(t, lists.GetCoverRequests(), 1)
	assert.Empty(t, lists.GetTimeOffRequests())

	_, err = w.client.DeleteRequestSubtype(w.ctx, &timekeepingv1.DeleteRequestSubtypeRequest{Id: id})
	require.NoError(t, err)
	_, err = w.client.DeleteRequestSubtype(w.ctx, &timekeepingv1.DeleteRequestSubtypeRequest{Id: id})
	faulttest.Require(t, err, requestsubtype.CodeUnknownID, 404)
	_, err = w.client.FindRequestSubtype(w.ctx, &timekeepingv1.FindRequestSubtypeRequest{Name: "Trade shifts"})
	faulttest.Require(t, err, requestsubtype.CodeUnknownName, 404)
}

func TestRequestSubtypesAreRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	translated := func(tags ...string) *timekeepingv1.RequestSubtype {
		s := swap("Other")
		s.GetSwapRequest().Translations = nil
		for _, tag := range tags {
			s.GetSwapRequest().Translations = append(s.GetSwapRequest().Translations, &timekeepingv1.RequestSubtypeTranslation{Language: tag, Name: "x"})
		}
		return s
	}
	noName := translated("de")
	noName.GetSwapRequest().Translations[0].Name = ""
	twoKinds := swap("Other")
	twoKinds.CoverRequest = &timekeepingv1.CoverRequestSubtype{Name: "Cover more"}
	otherID := swap("Other")
	otherID.GetSwapRequest().Id = proto.Int64(6)
	tests := []struct {
		name   string
		update int64
		given  *timekeepingv1.RequestSubtype
		code   string
		status int
	}{
		{"without a kind", 0, &timekeepingv1.RequestSubtype{}, requestsubtype.CodeKind, 400},
		{"with two kinds", 0, twoKinds, requestsubtype.CodeKind, 400},
		{"without a body", 5, nil, requestsubtype.CodeKind, 400},
		{"without a name", 0, swap(" "), timeofffault.CodeMissing, 400},
		{"with a name that is taken in another case", 0, swap("SWAP"), timeofffault.CodeInvalid, 400},
		{"with a translation without language", 0, translated(""), requestsubtype.CodeTranslation, 400},
		{"with a translation into no language", 0, translated("not a tag"), requestsubtype.CodeTranslation, 400},
		{"with a translation twice", 0, translated("fr-ca", "fr-CA"), requestsubtype.CodeTranslation, 400},
		{"with a translation without name", 0, noName, timeofffault.CodeMissing, 400},
		{"as another kind", 1, swap("Other"), requestsubtype.CodeKind, 400},
		{"with another id", 5, otherID, timeofffault.CodeOtherID, 400},
		{"unknown", 999, swap("Other"), requestsubtype.CodeUnknownID, 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var err error
			if test.update != 0 {
				_, err = w.client.UpdateRequestSubtype(w.ctx, &timekeepingv1.UpdateRequestSubtypeRequest{Id: test.update, RequestSubtype: test.given})
			} else {
				_, err = w.client.CreateRequestSubtype(w.ctx, test.given)
			}
			faulttest.Require(t, err, test.code, test.status)
		})
	}
}

func TestRequestTypesAreRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	tests := []struct {
		name string
		refs *timekeepingv1.RequestTypeRefs
		code string
	}{
		{"neither list", &timekeepingv1.RequestTypeRefs{}, requestsubtype.CodeOneList},
		{"both lists", &timekeepingv1.RequestTypeRefs{Ids: []int64{1}, Qualifiers: []string{"Swap"}}, requestsubtype.CodeOneList},
		{"an unknown id", &timekeepingv1.RequestTypeRefs{Ids: []int64{1, 9}}, requestsubtype.CodeUnknownTypeID},
		{"an unknown name", &timekeepingv1.RequestTypeRefs{Qualifiers: []string{"Nap"}}, requestsubtype.CodeUnknownType},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.client.MultiReadRequestSubtypes(w.ctx, &timekeepingv1.MultiReadRequestSubtypesRequest{
				Where: &timekeepingv1.RequestSubtypeWhere{RequestTypes: test.refs},
			})
			faulttest.Require(t, err, test.code, 400)
		})
	}
}
