package application

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// reported collects the headers of a response.
type reported struct{ metadata.MD }

func (*reported) Method() string               { return "" }
func (*reported) SendHeader(metadata.MD) error { return nil }
func (*reported) SetTrailer(metadata.MD) error { return nil }

func (r *reported) SetHeader(md metadata.MD) error {
	r.MD = metadata.Join(r.MD, md)
	return nil
}

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

func TestPagesByCursorHaveEachPostingOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var board string
	require.NoError(t, f.pool.QueryRow(f.ctx, `INSERT INTO job_board (tenant_id, name, body) VALUES (1, 'Board', '') RETURNING guid::text`).Scan(&board))
	var want []string
	for range 5 {
		want = append(want, f.opportunity(func(o *recruitingv1.Opportunity, c record.Columns) {
			o.JobBoards = []*recruitingv1.OpportunityJobBoard{{Id: board}}
			c["job_board_ids"], c["is_published"] = []string{board}, true
		}))
	}
	slices.Sort(want)
	var seen, cursors []string
	after := ""
	for page := 0; page == 0 || after != ""; page++ {
		header := &reported{}
		list, err := f.ListPostings(grpc.NewContextWithServerTransportStream(f.ctx, header), &recruitingv1.ListPostingsRequest{IntegrationId: board, PerPage: 2, After: &after})
		require.NoError(t, err)
		for _, p := range list.GetItems() {
			seen = append(seen, p.GetOpportunity().GetId())
		}
		if after = header.next(t); after != "" {
			cursors = append(cursors, after)
		}
		if page == 0 {
			// A posting of the first page ends, which moves all others by one place.
			_, err := f.pool.Exec(f.ctx, `UPDATE opportunity SET is_published = false WHERE tenant_id = 1 AND id = $1::uuid`, seen[0])
			require.NoError(t, err)
		}
	}
	assert.Equal(t, want, seen)

	decoded, err := base64.RawURLEncoding.DecodeString(cursors[0])
	require.NoError(t, err)
	forged := base64.RawURLEncoding.EncodeToString(append(decoded[:8:8], `"x"`...))
	_, err = f.ListPostings(f.ctx, &recruitingv1.ListPostingsRequest{IntegrationId: board, After: &forged})
	assert.True(t, fault.HasCode(err, cursor.CodeUnknown), "%v", err)
}
