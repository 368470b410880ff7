package configuration

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type (
	process = recruitingv1.RecruitingProcess
	step    = recruitingv1.RecruitingStep
)

func names[T interface{ GetName() string }](list []T) (out []string) {
	for _, o := range list {
		out = append(out, o.GetName())
	}
	return out
}

func TestEachTenantGetsDefaults(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	items, settings := NewItems(pool), NewSettings(pool)
	read := func(ctx context.Context, h *Items) []string {
		list, err := h.ListPrefixes(ctx, nil)
		require.NoError(t, err)
		return names(list.GetItems())
	}
	_, err := items.CreatePrefix(ctx, &item{Name: "MR."})
	require.NoError(t, err)
	require.Equal(t, []string{"Dr.", "Miss", "MR.", "Mrs.", "Ms.", "Mx.", "Prof."}, read(ctx, items))

	// A renamed object is not stored again, also by another process.
	list, err := items.ListPrefixes(ctx, nil)
	require.NoError(t, err)
	_, err = items.UpdatePrefix(ctx, &recruitingv1.UpdateConfigurationItemRequest{Id: list.GetItems()[0].GetId(), Body: &item{Name: "Doctor"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"Doctor", "Miss", "MR.", "Mrs.", "Ms.", "Mx.", "Prof."}, read(ctx, NewItems(pool)))
	assert.Contains(t, read(tenant.With(t.Context(), 2), items), "Dr.")

	processes, err := settings.ListRecruitingProcesses(ctx, nil)
	require.NoError(t, err)
	require.Len(t, processes.GetItems(), 1)
	standard := processes.GetItems()[0]
	assert.True(t, standard.GetIsActive())
	assert.Equal(t, []string{"Applied", "Screening", "Interview", "Offer", "Hired"}, names(standard.GetSteps()))
	for _, s := range standard.GetSteps() {
		assert.Len(t, s.GetId(), 36)
	}
}

func TestStepsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	h, ctx := NewSettings(pooltest.New(t)), tenant.With(t.Context(), 1)
	created, err := h.CreateRecruitingProcess(ctx, &process{Name: "Short", Steps: []*step{{Name: "Applied"}, {Name: "Hired"}}})
	require.NoError(t, err)
	applied, hired := created.GetSteps()[0], created.GetSteps()[1]
	update := func(steps ...*step) (*process, error) {
		return h.UpdateRecruitingProcess(ctx, &recruitingv1.UpdateRecruitingProcessRequest{Id: created.GetId(), Body: &process{Name: "Short", Steps: steps}})
	}
	got, err := update(&step{Name: "APPLIED"}, &step{Name: "Talk"}, &step{Id: hired.GetId(), Name: "Employed"})
	require.NoError(t, err)
	assert.Equal(t, []string{"APPLIED", "Talk", "Employed"}, names(got.GetSteps()))
	assert.Equal(t, applied.GetId(), got.GetSteps()[0].GetId())
	assert.Equal(t, hired.GetId(), got.GetSteps()[2].GetId())
	talk := got.GetSteps()[1]
	assert.NotContains(t, []string{"", applied.GetId(), hired.GetId()}, talk.GetId())
	for _, c := range []struct {
		name, code string
		steps      []*step
	}{
		{"a stored step is missing", CodeInvalid, []*step{applied, hired}},
		{"an unknown id", CodeUnknown, []*step{applied, talk, hired, {Id: "8f0c2a10-5a11-4d0e-9a35-0f6e2b7d1c01", Name: "New"}}},
		{"an id twice", CodeUnknown, []*step{applied, talk, hired, {Id: hired.GetId(), Name: "New"}}},
		{"a name twice", CodeInvalid, []*step{applied, talk, hired, {Name: "TALK"}}},
		{"no name", CodeMissing, []*step{applied, talk, hired, {Name: " "}}},
		{"one step", CodeMissing, []*step{applied}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := update(c.steps...)
			require.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
}

func TestReferencesToConfiguration(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	h, ctx := NewItems(pool), tenant.With(t.Context(), 1)
	resolve := func(ref *item) error {
		return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
			_, _, err := Prefix.Resolve(ctx, tx, "name.prefix", ref)
			return err
		})
	}
	ref := &item{Name: "mrs."} // Nobody has listed the prefixes yet.
	require.NoError(t, resolve(ref))
	assert.Equal(t, "Mrs.", ref.GetName())
	_, err := h.UpdatePrefix(ctx, &recruitingv1.UpdateConfigurationItemRequest{Id: ref.GetId(), Body: &item{Name: "Mrs.", IsActive: proto.Bool(false)}})
	require.NoError(t, err)
	err = resolve(&item{Id: ref.GetId()})
	require.True(t, fault.HasCode(err, CodeArchived), "%v", err)
	assert.Equal(t, []string{"name.prefix"}, fault.FromError(err).Members)
}

func TestCodesAreUnique(t *testing.T) {
	t.Parallel()
	h, ctx := NewSettings(pooltest.New(t)), tenant.With(t.Context(), 1)
	_, err := h.CreateOrgUnit(ctx, &recruitingv1.OrgUnit{Name: "Hospital", Code: "H", OrgLevel: &recruitingv1.OrgLevel{Level: 1}})
	require.NoError(t, err)
	_, err = h.CreateOrgUnit(ctx, &recruitingv1.OrgUnit{Name: "Hotel", Code: "H"})
	require.True(t, fault.HasCode(err, CodeTaken), "%v", err)
	assert.True(t, fault.HasStatus(err, 409))
}
