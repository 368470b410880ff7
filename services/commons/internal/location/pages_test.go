package location_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// reported collects the headers of a response.
type reported struct{ metadata.MD }

func (*reported) Method() string                   { return "" }
func (*reported) SendHeader(metadata.MD) error     { return nil }
func (*reported) SetTrailer(metadata.MD) error     { return nil }
func (r *reported) SetHeader(md metadata.MD) error { r.MD = metadata.Join(r.MD, md); return nil }

// next returns the cursor of the next page, or "".
func (r *reported) next(t *testing.T) string {
	t.Helper()
	for _, value := range r.Get(rpc.HeaderPage) {
		if text, ok := strings.CutPrefix(value, "next "); ok {
			query, err := url.ParseQuery(text)
			require.NoError(t, err)
			return query.Get("after")
		}
	}
	return ""
}

// all returns the names of the locations on all pages. between is called after each page.
func (b fixture) all(t *testing.T, req *commonsv1.MultiReadLocationsRequest, between func(page int)) (names []string) {
	t.Helper()
	req.After = proto.String("")
	for page := 0; ; page++ {
		header := &reported{}
		list, err := b.MultiReadLocations(grpc.NewContextWithServerTransportStream(inTenant(t), header), req)
		require.NoError(t, err)
		for _, l := range list.GetLocations() {
			names = append(names, l.GetName()+" "+l.GetEffectiveDate())
		}
		if req.After = proto.String(header.next(t)); req.GetAfter() == "" {
			return names
		}
		require.Less(t, page, 100, "the pages must end")
		between(page)
	}
}

func (b fixture) update(t *testing.T, l *commonsv1.Location) {
	t.Helper()
	_, err := b.MultiUpdateLocations(inTenant(t), &commonsv1.WriteLocationsRequest{Body: &commonsv1.LocationList{Locations: []*commonsv1.Location{l}}})
	require.NoError(t, err)
}

func TestPagesByCursorHaveEachLocationOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.has(t, "", "Acme")
	var ids []int64
	for _, name := range []string{"A", "B", "C", "D", "E", "F"} {
		ids = append(ids, b.has(t, "Acme", name))
	}
	req := &commonsv1.MultiReadLocationsRequest{
		Where: &commonsv1.LocationWhere{ChildrenOf: &commonsv1.LocationsOf{Context: "ORG", Date: "2026-03-01", LocationRef: byPath("Acme")}},
		Count: proto.Int64(2),
	}
	names := b.all(t, req, func(page int) {
		if page > 0 {
			return
		}
		// A, which is on the first page, moves to the end of the order by path, with another first day, and F to its
		// beginning. C goes, and a location that sorts before all comes.
		for id, name := range map[int64]string{ids[0]: "Z", ids[5]: "0"} {
			b.update(t, &commonsv1.Location{NodeId: &id, Name: &name, EffectiveDate: "2026-02-01"})
		}
		_, err := b.MultiDeleteLocations(inTenant(t), &commonsv1.MultiDeleteLocationsRequest{Where: &commonsv1.LocationDeletion{Nodes: &commonv1.RefList{Ids: ids[2:3]}}})
		require.NoError(t, err)
		b.has(t, "Acme", "00")
	})
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, " ")
	}
	assert.Equal(t, []string{"A", "B", "D", "E", "0", "00"}, names)
}

func TestPagesByCursorHaveEachVersionOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.has(t, "", "Acme")
	id := b.has(t, "Acme", "A")
	b.has(t, "Acme", "B")
	for _, day := range []string{"2026-04-01", "2026-05-01"} {
		b.update(t, &commonsv1.Location{NodeId: &id, Description: proto.String(day), EffectiveDate: day})
	}
	req := &commonsv1.MultiReadLocationsRequest{
		Where: &commonsv1.LocationWhere{ChildrenOfDuring: &commonsv1.LocationsOfDuring{Context: "ORG", StartDate: "2026-03-01", EndDate: "2026-12-31", LocationRef: byPath("Acme")}},
		Count: proto.Int64(1),
	}
	assert.Equal(t, []string{"A 1900-01-01", "A 2026-04-01", "A 2026-05-01", "B 1900-01-01"}, b.all(t, req, func(int) {}))
}

func TestCursorsOfOtherLocationsAreRefused(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.has(t, "", "Acme")
	b.has(t, "Acme", "A")
	of := func(date string) *commonsv1.LocationWhere {
		return &commonsv1.LocationWhere{DescendantsOf: &commonsv1.LocationsOf{Context: "ORG", Date: date, LocationRef: byPath("Acme")}}
	}
	b.has(t, "Acme", "B")
	header := &reported{}
	_, err := b.MultiReadLocations(grpc.NewContextWithServerTransportStream(inTenant(t), header), &commonsv1.MultiReadLocationsRequest{Where: of("2026-03-01"), Count: proto.Int64(1), After: proto.String("")})
	require.NoError(t, err)
	next := header.next(t)
	require.NotEmpty(t, next)
	for name, c := range map[string]struct {
		req  *commonsv1.MultiReadLocationsRequest
		code string
	}{
		"another date": {&commonsv1.MultiReadLocationsRequest{Where: of("2026-03-02"), After: &next}, cursor.CodeOtherRequest},
		"no cursor":    {&commonsv1.MultiReadLocationsRequest{Where: of("2026-03-01"), After: proto.String("1")}, cursor.CodeUnknown},
		"with index":   {&commonsv1.MultiReadLocationsRequest{Where: of("2026-03-01"), After: &next, Index: proto.Int64(0), Count: proto.Int64(1)}, cursor.CodeTwoPages},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := b.MultiReadLocations(context.WithoutCancel(inTenant(t)), c.req)
			assert.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
}
