package dataaccess

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// BenchmarkMultiReadData reads 20 columns of 142 rows, the most that the
// providers of the test allow, from three providers without a database.
func BenchmarkMultiReadData(b *testing.B) {
	fixture := newFixture(b)
	req := request(upTo(143)[:142])
	for range 3 {
		for _, name := range []string{"A", "B", "C"} {
			for _, part := range []string{"_NUMBER", "_TEXT", "_DAY"} {
				req.Select = append(req.Select, &platformv1.DataSelect{Key: name + part})
			}
		}
	}
	req.Select = req.Select[:20]
	req.Options = &platformv1.DataOptions{Refresh: proto.Bool(true)}
	ctx := tenant.With(b.Context(), 1)
	for b.Loop() {
		if _, err := fixture.handler.MultiReadData(ctx, req); err != nil {
			b.Fatal(err)
		}
	}
}
