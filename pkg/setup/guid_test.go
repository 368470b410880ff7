package setup_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

type source = recruitingv1.ConfigurationItem

// newSources returns a kind with GUIDs.
func newSources(t *testing.T) (context.Context, *setup.Resource[*source]) {
	t.Helper()
	const sql = `-- +goose Up
CREATE TABLE source (
    tenant_id bigint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, guid uuid NOT NULL DEFAULT gen_random_uuid(),
    name text NOT NULL, version bigint NOT NULL DEFAULT 1, body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX source_name ON source (tenant_id, lower(name));
CREATE UNIQUE INDEX source_guid ON source (tenant_id, guid);
SELECT isolate_tenants('source');`
	pool := pgtest.New(t, setup.Migrations(), pg.Migrations{Table: "test_version", FS: fstest.MapFS{"0001_test.sql": {Data: []byte(sql)}}})
	kind := setup.NewKind(setup.Declaration[*source]{Codes: codes("source"), What: "source", Table: "source"})
	return tenant.With(t.Context(), 1), &setup.Resource[*source]{Kind: kind, Pool: pool}
}

func createSource(t *testing.T, ctx context.Context, sources *setup.Resource[*source], name string) *source {
	t.Helper()
	out, err := sources.Create(ctx, &source{Name: name})
	require.NoError(t, err)
	return out
}

func TestResourcesHaveGUIDs(t *testing.T) {
	t.Parallel()
	ctx, sources := newSources(t)
	fair := createSource(t, ctx, sources, "Fair")
	assert.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, fair.GetId())
	assert.Regexp(t, `^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, fair.GetCreatedAt())
	assert.Equal(t, fair.GetCreatedAt(), fair.GetUpdatedAt())

	got, err := sources.GetGUID(ctx, strings.ToUpper(fair.GetId()))
	require.NoError(t, err)
	assert.True(t, proto.Equal(fair, got), "%v", got)
	list, err := sources.List(ctx, nil, nil)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, fair.GetId(), list[0].GetId())

	updated, err := sources.UpdateGUID(ctx, fair.GetId(), &source{Id: fair.GetId(), Name: "Trade fair"})
	require.NoError(t, err)
	assert.Equal(t, fair.GetId(), updated.GetId())
	changed, err := sources.ChangeGUID(ctx, fair.GetId(), func(s *source) { s.IsActive = proto.Bool(false) })
	require.NoError(t, err)
	assert.Equal(t, "Trade fair", changed.GetName())
	assert.False(t, changed.GetIsActive())

	_, err = sources.UpdateGUID(ctx, fair.GetId(), &source{Id: createSource(t, ctx, sources, "Web").GetId(), Name: "Fair"})
	requireCode(t, err, "source-other-id", "is not the id in the path")
	_, err = sources.DeleteGUID(ctx, fair.GetId(), nil)
	require.NoError(t, err)
	_, err = sources.GetGUID(ctx, fair.GetId())
	assert.True(t, fault.HasStatus(err, 404), "%v", err)
}

func TestOtherGUIDsAreNotFound(t *testing.T) {
	t.Parallel()
	ctx, sources := newSources(t)
	guid := createSource(t, ctx, sources, "Fair").GetId()
	other := tenant.With(t.Context(), 2)
	for name, c := range map[string]struct {
		ctx  context.Context
		guid string
	}{
		"an unknown GUID":          {ctx, "8f0c2a10-5a11-4d0e-9a35-0f6e2b7d1c01"},
		"a GUID of another tenant": {other, guid},
		"a number":                 {ctx, "1"},
		"no text":                  {ctx, ""},
		"a GUID in braces":         {ctx, "{" + guid + "}"},
		"a GUID without hyphens":   {ctx, strings.ReplaceAll(guid, "-", "")},
		"a zero byte":              {ctx, guid[:35] + "\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := sources.GetGUID(c.ctx, c.guid)
			require.True(t, fault.HasStatus(err, 404), "%v", err)
			_, err = sources.UpdateGUID(c.ctx, c.guid, &source{Name: "Other"})
			require.True(t, fault.HasStatus(err, 404), "%v", err)
			_, err = sources.ChangeGUID(c.ctx, c.guid, func(*source) {})
			require.True(t, fault.HasStatus(err, 404), "%v", err)
			_, err = sources.DeleteGUID(c.ctx, c.guid, nil)
			require.True(t, fault.HasStatus(err, 404), "%v", err)
		})
	}
}

func TestReferencesToGUIDs(t *testing.T) {
	t.Parallel()
	ctx, sources := newSources(t)
	fair := createSource(t, ctx, sources, "Fair")
	resolve := func(ref *source) (id int64, err error) {
		err = pg.InTx(ctx, sources.Pool, func(ctx context.Context, tx pgx.Tx) error {
			_, id, err = sources.Kind.ResolveGUID(ctx, tx, "applicant_source", ref)
			return err
		})
		return id, err
	}
	byID, byName := &source{Id: strings.ToUpper(fair.GetId()), Name: "None"}, &source{Name: "FAIR"}
	for _, ref := range []*source{byID, byName} {
		id, err := resolve(ref)
		require.NoError(t, err)
		assert.Equal(t, int64(1), id)
		assert.Equal(t, fair.GetId(), ref.GetId())
		assert.Equal(t, "Fair", ref.GetName())
	}
	for _, c := range []struct {
		name       string
		ref        *source
		code, text string
	}{
		{"an unknown GUID", &source{Id: "8f0c2a10-5a11-4d0e-9a35-0f6e2b7d1c01", Name: "Fair"}, "source-unknown", "(applicant_source) does not exist."},
		{"no GUID", &source{Id: "1", Name: "Fair"}, "source-unknown", `The source with the id "1"`},
		{"an unknown name", &source{Name: "None"}, "source-unknown", `The source "None" (applicant_source)`},
		{"a name with a zero byte", &source{Name: "\x00"}, "source-unknown", "does not exist"},
		{"neither", &source{}, "source-missing", "applicant_source.id is missing."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve(c.ref)
			requireCode(t, err, c.code, c.text)
		})
	}
}
