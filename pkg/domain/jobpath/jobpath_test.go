package jobpath_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// stream keeps the headers of a response.
type stream struct{ header metadata.MD }

func (s *stream) Method() string { return "" }

func (s *stream) SetHeader(md metadata.MD) error {
	s.header = metadata.Join(s.header, md)
	return nil
}

func (s *stream) SendHeader(metadata.MD) error { return nil }

func (s *stream) SetTrailer(metadata.MD) error { return nil }

// The header of a response takes only ASCII, and few lines.
func TestWarningsAreShortAndASCII(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unknown []string
		want    []string // the beginnings
	}{
		"none":        {nil, nil},
		"a path":      {[]string{"Plant/Weldng"}, []string{`"No location has the path 'Plant/Weldng'. `}},
		"not ASCII":   {[]string{"Zürich\n"}, []string{`"No location has the path 'Z\\u00fcrich\\n'. `}},
		"a long path": {[]string{strings.Repeat("x", 300)}, []string{`"No location has the path '` + strings.Repeat("x", 200) + `...'. `}},
		"many paths": {[]string{"1", "2", "3", "4", "5", "6", "7"}, []string{
			`"No location has the path '1'`, `"No location has the path '2'`, `"No location has the path '3'`, `"No location has the path '4'`,
			`"No location has the path '5'`, `"No location has 2 further paths of the request."`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stream{}
			require.NoError(t, jobpath.Warn(grpc.NewContextWithServerTransportStream(t.Context(), s), c.unknown))
			got := s.header.Get(rpc.HeaderWarning)
			require.Len(t, got, len(c.want))
			for i, want := range c.want {
				assert.True(t, strings.HasPrefix(got[i], want), fmt.Sprint(got[i]))
			}
		})
	}
}

// locations keeps the questions that it is asked, and knows no path.
type locations struct{ asked [][]string }

func (l *locations) ResolveLocations(_ context.Context, req *commonsv1.ResolveLocationsRequest, _ ...grpc.CallOption) (*commonsv1.ResolveLocationsResponse, error) {
	l.asked = append(l.asked, req.GetPaths())
	return &commonsv1.ResolveLocationsResponse{UnknownPaths: req.GetPaths()}, nil
}

// A request asks once for all of its paths. Jobs with an id, and requests without paths, need no question.
func TestARequestAsksOnce(t *testing.T) {
	t.Parallel()
	path := func(text string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &text} }
	byID := path("Plant/Other")
	byID.Id = new(int64(7))
	l, s := &locations{}, &stream{}
	checker := &jobpath.Checker{Locations: l, Log: slog.New(slog.DiscardHandler)}
	ctx := grpc.NewContextWithServerTransportStream(t.Context(), s)
	require.NoError(t, checker.Warn(ctx, []*commonv1.Ref{nil, byID, path("")}))
	assert.Empty(t, l.asked)
	require.NoError(t, checker.Warn(ctx, []*commonv1.Ref{path("Plnat"), nil, byID, path("Plnat"), path("Plant/Weldr")}))
	assert.Equal(t, [][]string{{"Plnat", "Plant/Weldr"}}, l.asked)
	assert.Len(t, s.header.Get(rpc.HeaderWarning), 2)

	var many []*commonv1.Ref
	for i := range 3000 {
		many = append(many, path(fmt.Sprint(i)))
	}
	require.NoError(t, checker.Warn(ctx, many))
	assert.Len(t, l.asked[1], 1000, "the question is bounded")
	require.NoError(t, (*jobpath.Checker)(nil).Warn(ctx, many))
}
