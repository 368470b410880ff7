package jobpath_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/domain/jobpath"
	"github.com/rotaloom/rotaloom/pkg/rpc"
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
