package dataaccess

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
)

// TestNoNodeIsLongerThanEstimated holds the estimate that spares writing twice to
// be no less than what is written.
func TestNoNodeIsLongerThanEstimated(t *testing.T) {
	t.Parallel()
	const rows, periods = 20, 7
	number := &column{key: "NUMBER", kind: dataelement.Number}
	text := &column{key: "TEXT", kind: dataelement.String, alias: proto.String(strings.Repeat("a", 300))}
	day := &column{key: "DAY", kind: dataelement.Date, series: true}
	r := &result{view: views()[2], shown: 3, read: []*column{number, text, day}}
	for i := range rows {
		r.rows = append(r.rows, &datav1.DataRow{Id: int64(i) << 50, Qualifier: strings.Repeat("q", 10*i)})
		number.there, number.numbers = append(number.there, i%3 != 0), append(number.numbers, -1/float64(i+1))
		text.there, text.texts = append(text.there, true), append(text.texts, strings.Repeat("t", 200*i))
		for p := range periods {
			day.there, day.integers = append(day.there, true), append(day.integers, int64(i*p))
		}
	}
	for p := range periods + 1 {
		r.bounds = append(r.bounds, int32(20_000+p))
	}
	r.table = newTable(r.read, rows, periods)
	r.prepare()
	w := &writer{result: r}
	for _, node := range r.table.nodes {
		assert.LessOrEqual(t, int64(len(w.child(nil, r.table, node))), w.maxNode())
	}
	assert.Len(t, r.table.nodes, rows*periods)
}
