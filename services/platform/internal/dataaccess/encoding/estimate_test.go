package encoding

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/table"
)

// TestNoNodeIsLongerThanEstimated proves that the estimated size is never below the written size.
func TestNoNodeIsLongerThanEstimated(t *testing.T) {
	t.Parallel()
	const rows, periods = 20, 7
	number := &table.Column{Key: "NUMBER", Kind: dataelement.Number}
	text := &table.Column{Key: "TEXT", Kind: dataelement.String, Alias: proto.String(strings.Repeat("a", 300))}
	day := &table.Column{Key: "DAY", Kind: dataelement.Date, Series: true}
	r := &Result{View: query.Views()[2], Shown: 3, Read: []*table.Column{number, text, day}}
	for i := range rows {
		r.Rows = append(r.Rows, &datav1.DataRow{Id: int64(i) << 50, Qualifier: strings.Repeat("q", 10*i)})
		number.Present, number.Numbers = append(number.Present, i%3 != 0), append(number.Numbers, -1/float64(i+1))
		text.Present, text.Texts = append(text.Present, true), append(text.Texts, strings.Repeat("t", 200*i))
		for p := range periods {
			day.Present, day.Integers = append(day.Present, true), append(day.Integers, int64(i*p))
		}
	}
	for p := range periods + 1 {
		r.Bounds = append(r.Bounds, int32(20_000+p))
	}
	r.Table = table.New(r.Read, rows, periods)
	r.Prepare()
	w := &Writer{Result: r}
	for _, node := range r.Table.Nodes {
		encoded, err := w.appendChild(nil, r.Table, node)
		require.NoError(t, err)
		assert.LessOrEqual(t, int64(len(encoded)), w.maxNode())
	}
	assert.Len(t, r.Table.Nodes, rows*periods)
}
