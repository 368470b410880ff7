package location_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/location"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

type fixture struct {
	*location.Handler
	pool *pg.Pool
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	pool := pooltest.New(t)
	return fixture{location.New(pool, clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))), pool}
}

func inTenant(t *testing.T) context.Context { return tenant.With(t.Context(), 1) }

func byPath(path string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &path} }

// has creates a location below the one with a path, at the top for "".
func (b fixture) has(t *testing.T, parent, name string, change ...func(*commonsv1.Location)) int64 {
	t.Helper()
	l := &commonsv1.Location{Name: &name}
	if parent != "" {
		l.ParentNodeRef = byPath(parent)
	}
	for _, c := range change {
		c(l)
	}
	made, err := b.CreateLocation(inTenant(t), l)
	require.NoError(t, err)
	return made.GetLocations()[0].GetNodeId()
}

// paths returns the paths of a response.
func paths(list *commonsv1.LocationList) []string {
	out := []string{}
	for _, l := range list.GetLocations() {
		out = append(out, l.GetOrgPath())
	}
	return out
}

func (b fixture) reads(t *testing.T, where *commonsv1.LocationWhere) []string {
	t.Helper()
	list, err := b.MultiReadLocations(inTenant(t), &commonsv1.MultiReadLocationsRequest{Where: where})
	require.NoError(t, err)
	return paths(list)
}

func (b fixture) below(t *testing.T, ref *commonv1.Ref, day string) []string {
	t.Helper()
	return b.reads(t, &commonsv1.LocationWhere{DescendantsOf: &commonsv1.LocationsOf{Context: "ORG", Date: day, LocationRef: ref}})
}

func requireRefused(t *testing.T, err error, code string) {
	t.Helper()
	assert.True(t, fault.HasCode(err, code), "%v must have the code %s", err, code)
}
